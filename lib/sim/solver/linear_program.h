// SPDX-License-Identifier: GPL-2.0-or-later
// Linear programs of scheduling policies.
#pragma once

#include <utility>
#include <vector>

#include "lib/base/index.h"

namespace rubato::sim {

/// A variable: an index into LinearProgram::objective.
using VariableIndex = Index<struct VariableTag>;

/// maximise c x subject to rows <= bounds, x >= 0.
struct LinearProgram {
  struct Row {
    std::vector<std::pair<VariableIndex, double>> terms;  ///< variable, factor
    double bound = 0;                                     ///< sum of terms <= bound

    bool operator==(const Row&) const = default;
  };
  std::vector<double> objective;  ///< one per variable
  std::vector<Row> rows;
  std::vector<double> start;  ///< strictly inside all rows and above 0
};

}  // namespace rubato::sim
