// SPDX-License-Identifier: GPL-2.0-or-later
// Branch and bound for the assignment problem, job by job. It keeps every set of free GPUs that can
// still lead to a better solution. Prices of the Lagrangian dual give bounds. Partial solutions
// with the same free GPUs are merged.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/base/error.h"
#include "lib/sim/solver/assignment_problem.h"

namespace rubato::sim {

struct BranchOptions {
  double gap = 1e-4;                    ///< relative, as Sia's; with integer costs any gap below 1
  std::int64_t max_states = 8'000'000;  ///< limit before it gives up: a count, the same on any
                                        ///< machine
};

struct Branched {
  std::vector<ColumnIndex> chosen;  ///< the column of each row; not valid(): none
  double cost = 0;                  ///< at most 0
  double bound = 0;                 ///< lower bound of the cost
  std::int64_t states = 0;          ///< examined
};

/// Maximum distance of a solution of `cost` from the best one, relative to `cost`.
[[nodiscard]] double relative_gap(double cost, double bound);

/// Finds a solution within the gap of the best one; `bound` proves it. It first follows few states
/// with the best bounds, then more, until no dropped state can matter. The same input gives the
/// same solution on any machine. Fails at the maximum number of states; the error gives the gap
/// reached.
[[nodiscard]] Result<Branched> branch_and_bound(const AssignmentProblem& choice,
                                                const BranchOptions& options = {});

}  // namespace rubato::sim
