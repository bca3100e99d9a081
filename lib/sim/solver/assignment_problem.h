// SPDX-License-Identifier: GPL-2.0-or-later
// One configuration a job: the integer programme of policies such as Sia's.
#pragma once

#include <vector>

#include "lib/sim/solver/linear_program.h"

namespace rubato::sim {

/// So many GPUs of a type.
struct AssignmentColumn {
  int type = 0;
  int gpus = 1;
};

/// What minimises the sum of costs inside the GPUs of each type. A job without a configuration
/// costs nothing, so only entries below 0 are ever taken.
struct AssignmentProblem {
  std::vector<std::vector<double>> costs;  ///< a row a job, an entry a column
  std::vector<AssignmentColumn> columns;
  std::vector<int> gpus;  ///< of each type
};

/// The same as a programme in 0 and 1, with a variable for each entry below 0, row by row.
[[nodiscard]] LinearProgram assignment_program(const AssignmentProblem& choice);
/// The entries that `answer` to it takes.
[[nodiscard]] std::vector<int> assignment_of(const AssignmentProblem& choice,
                                             const std::vector<double>& answer);

}  // namespace rubato::sim
