// SPDX-License-Identifier: GPL-2.0-or-later
// Who answers the programmes of policies: the library itself, or a well-kept solver in a process of
// its own.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/sim/solver/assignment_problem.h"
#include "lib/sim/solver/linear_program.h"

namespace rubato::sim {

class Solver {
 public:
  Solver() = default;
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;
  virtual ~Solver() = default;

  /// Inside the optimal face, near its centre: an interior point without crossover.
  [[nodiscard]] virtual Result<std::vector<double>> centre(const LinearProgram& linear_program) = 0;
  /// The same for a policy whose optimal face is so wide that near is not enough.
  [[nodiscard]] virtual Result<std::vector<double>> true_centre(
      const LinearProgram& linear_program) = 0;
  /// Of each row of `choice` at most one entry, -1 for none, for the least sum, to a gap of 1e-4.
  [[nodiscard]] virtual Result<std::vector<int>> choose(const AssignmentProblem& choice) = 0;
  /// Not that a programme has no answer, but that nobody is there to answer any: why. A run ends
  /// then. Empty: all is well.
  [[nodiscard]] virtual const std::string& broken() const = 0;
};

/// solve_centre() and branch_and_bound(), in this process. It has no state: one serves all.
[[nodiscard]] Solver& own_solver();

struct ProcessSolverOptions {
  std::string program;  ///< its full path
  double seconds = 60;  ///< for one programme; it is killed then
  bool all = false;     ///< true centres are asked of it too, and not of solve_centre()
  /// Set: it is killed, whatever it is asked; that of RunControl, so that the run is cut.
  const std::atomic<bool>* stop = nullptr;
};

/// A process with the protocol of solve_protocol.h, started by the first programme, which answers
/// all of them and ends with the object. What it gives up own_solver() answers. Where the process
/// dies, says what is not in the protocol, or takes too long, it is killed, and broken() says so:
/// no answer depends on how fast the machine is.
[[nodiscard]] std::unique_ptr<Solver> process_solver(ProcessSolverOptions options);

}  // namespace rubato::sim
