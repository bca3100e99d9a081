// SPDX-License-Identifier: GPL-2.0-or-later
// Which solver `rubato simulate` uses.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "lib/base/error.h"
#include "lib/sim/solver/solver.h"

namespace rubato::tools {

/// RUBATO_SOLVE, or the rubato-solve beside this program or where make install puts it; empty:
/// none.
[[nodiscard]] std::string find_solver();

/// `word` is "auto", "glpk" or "own"; null for the latter, and for "auto" where there is no
/// rubato-solve. It gives up what it is asked when `stop` is set.
[[nodiscard]] Result<std::unique_ptr<sim::Solver>> solver_of(const std::string& word,
                                                             const std::atomic<bool>& stop);

}  // namespace rubato::tools
