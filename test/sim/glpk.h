// SPDX-License-Identifier: GPL-2.0-or-later
// GLPK as an independent reference for the simulator's own solvers. Only tests link it.
#pragma once

#include <vector>

#include "lib/base/error.h"
#include "lib/sim/solver/assignment_problem.h"
#include "lib/sim/solver/linear_program.h"

namespace rubato::test {

/// Whether the tests were built with GLPK. Without it the functions below fail.
[[nodiscard]] bool have_glpk();

/// An optimum of a linear program by GLPK's interior point method, without crossover. GLPK fails on
/// some programs.
[[nodiscard]] Result<std::vector<double>> glpk_centre(const sim::LinearProgram& linear_program);

/// The column of each row (-1: none), within a relative 1e-4 of the optimum. Gives up after a fixed
/// amount of work with the error kGlpkGaveUp.
[[nodiscard]] Result<std::vector<sim::ColumnIndex>> glpk_assign(
    const sim::AssignmentProblem& problem);

inline constexpr const char* kGlpkGaveUp = "too many nodes of the tree";

}  // namespace rubato::test
