// SPDX-License-Identifier: GPL-2.0-or-later
// Branch and bound for the assignment problem: job after job, with every set of free GPUs that can
// still lead to a better answer. Prices of the Lagrangian dual give bounds. Partial answers with
// the same free GPUs are merged.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/base/error.h"
#include "lib/sim/solver/assignment_problem.h"

namespace rubato::sim {

struct BranchOptions {
  double gap = 1e-4;                    ///< relative, as Sia's; with whole costs any gap below 1
  std::int64_t max_states = 8'000'000;  ///< then it gives up: a count, the same on any machine
};

struct Branched {
  std::vector<int> chosen;  ///< the column of each row, -1 for none
  double cost = 0;          ///< at most 0
  double bound = 0;         ///< lower bound of the cost
  std::int64_t states = 0;  ///< examined
};

/// Maximum distance of an answer of `cost` from the best one, relative to `cost`.
[[nodiscard]] double relative_gap(double cost, double bound);

/// Finds an answer within the gap of the best one; `bound` proves it. It follows few states with
/// the best bounds first, then more, until no omitted state can matter. The same input gives the
/// same answer on any machine. Fails at the maximum number of states, with the gap it reached.
[[nodiscard]] Result<Branched> branch_and_bound(const AssignmentProblem& choice,
                                                const BranchOptions& options = {});

}  // namespace rubato::sim
