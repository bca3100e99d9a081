// SPDX-License-Identifier: GPL-2.0-or-later
// The centre of the optimal face of a linear programme.
#pragma once

#include <vector>

#include "lib/base/error.h"
#include "lib/sim/solver/linear_program.h"

namespace rubato::sim {

/// The (nearly) analytic centre of the optimal face: path following on the log barrier from `start`
/// down to a gap of 1e-9, without crossover. Fails where `start` is not inside, or the programme
/// has no bound.
[[nodiscard]] Result<std::vector<double>> solve_centre(const LinearProgram& linear_program);

}  // namespace rubato::sim
