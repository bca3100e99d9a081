// SPDX-License-Identifier: GPL-2.0-or-later
// Linear programmes of scheduling policies, answered with the centre of the optimal face.
#pragma once

#include <utility>
#include <vector>

#include "lib/core/error.h"

namespace rubato::sim {

/// maximise c x subject to rows <= bounds, x >= 0.
struct LinearProgramme {
  struct Row {
    std::vector<std::pair<int, double>> terms;  ///< variable, factor
    double bound = 0;                           ///< sum of terms <= bound
  };
  std::vector<double> objective;  ///< one a variable
  std::vector<Row> rows;
  std::vector<double> start;  ///< strictly inside all rows and above 0
};

/// The (nearly) analytic centre of the optimal face: path following on the log barrier from `start`
/// down to a gap of 1e-9, without crossover. Fails where `start` is not inside, or the programme
/// has no bound.
[[nodiscard]] Result<std::vector<double>> solve_centre(const LinearProgramme& programme);

}  // namespace rubato::sim
