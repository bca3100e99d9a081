// SPDX-License-Identifier: GPL-2.0-or-later
// One configuration a job by branch and bound: job after job, with every set of free GPUs that can
// still lead to a better answer. Prices of the Lagrangian dual bound; ways to the same free GPUs
// are one.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/base/error.h"
#include "lib/sim/solver/assignment_problem.h"

namespace rubato::sim {

struct BranchOptions {
  double gap = 1e-4;                    ///< relative, that of Sia; whole costs end at 1 too
  std::int64_t max_states = 8'000'000;  ///< then it gives up: a count and no time
};

struct Branched {
  std::vector<int> chosen;  ///< the entry of each row, -1 for none
  double cost = 0;          ///< at most 0
  double bound = 0;         ///< no answer costs less
  std::int64_t states = 0;  ///< that were looked at
};

/// How far an answer of `cost` may be from the best, relative, as GLPK counts.
[[nodiscard]] double relative_gap(double cost, double bound);

/// An answer within the gap of the best one, and the proof: `bound`. First it follows few states
/// with the best bounds, then more and more, until none that was left out can matter. The same
/// input gives the same answer anywhere. An error says how far it got when the states are used up.
[[nodiscard]] Result<Branched> branch_and_bound(const AssignmentProblem& choice,
                                                const BranchOptions& options = {});

}  // namespace rubato::sim
