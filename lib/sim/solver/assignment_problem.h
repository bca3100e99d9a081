// SPDX-License-Identifier: GPL-2.0-or-later
// At most one configuration per job: the integer program of policies such as Sia's.
#pragma once

#include <vector>

#include "lib/sim/engine/cluster_shape.h"
#include "lib/sim/solver/linear_program.h"

namespace rubato::sim {

/// A configuration: GPUs of a type.
struct AssignmentColumn {
  TypeIndex type = 0;
  int gpus = 1;
};
/// A configuration: an index into AssignmentProblem::columns.
using ColumnIndex = Index<struct AssignmentColumnTag>;

/// Minimise the sum of costs within the GPUs of each type. A job without a configuration costs 0,
/// so only entries below 0 are ever chosen.
struct AssignmentProblem {
  std::vector<std::vector<double>> costs;  ///< a row per job, an entry per column
  std::vector<AssignmentColumn> columns;
  std::vector<int> gpus;  ///< of each type
};

/// The problem as a binary program: a variable for each entry below 0, row by row.
[[nodiscard]] LinearProgram assignment_program(const AssignmentProblem& choice);
/// The column of each row in the solution `answer` of that program; not valid(): none.
[[nodiscard]] std::vector<ColumnIndex> assignment_of(const AssignmentProblem& choice,
                                                     const std::vector<double>& answer);

}  // namespace rubato::sim
