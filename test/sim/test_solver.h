// SPDX-License-Identifier: GPL-2.0-or-later
// The solver that `rubato simulate` uses unless told otherwise, from the build folder.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "lib/sim/solver/solver.h"

namespace rubato::test {

/// The rubato-solve of this build; "" where it was built without GLPK.
inline std::string built_solver() {
  const char* build = std::getenv("RUBATO_BUILD_DIR");  // NOLINT(concurrency-mt-unsafe)
  const std::string path =
      std::string(build != nullptr ? build : RUBATO_BUILD_DIR) + "/bin/rubato-solve";
  return access(path.c_str(), X_OK) == 0 ? path : "";
}

inline sim::Solver& usual_solver() {
  static const std::string kProgram = built_solver();
  static const std::unique_ptr<sim::Solver> kSolver =
      kProgram.empty() ? nullptr : sim::process_solver({kProgram, 300, false});
  return kSolver ? *kSolver : sim::own_solver();
}

}  // namespace rubato::test
