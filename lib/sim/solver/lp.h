// SPDX-License-Identifier: GPL-2.0-or-later
// The centre of the optimal face of a linear program.
#pragma once

#include <vector>

#include "lib/base/error.h"
#include "lib/sim/solver/linear_program.h"

namespace rubato::sim {

/// Returns the (nearly) analytic centre of the optimal face: path following on the log barrier from
/// `start` down to a relative gap of 1e-9, without crossover. Fails if `start` is not strictly
/// inside all rows, or if the program is unbounded.
[[nodiscard]] Result<std::vector<double>> solve_centre(const LinearProgram& linear_program);

/// A function that solves a linear program, such as solve_centre(). Tests replace it.
using CentreSolver = Result<std::vector<double>> (*)(const LinearProgram&);

}  // namespace rubato::sim
