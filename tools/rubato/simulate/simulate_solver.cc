// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/simulate/simulate_solver.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tools/shared/output.h"

// The Makefile says where make install puts it.
#ifndef RUBATO_SOLVE
#define RUBATO_SOLVE "/usr/local/libexec/rubato/rubato-solve"
#endif

namespace rubato::tools {
namespace {

/// For one programme. Integer ones are given up long before, see rubato_solve.cc.
constexpr double kSeconds = 120;

}  // namespace

std::string find_solver() {
  const char* said = std::getenv("RUBATO_SOLVE");  // NOLINT(concurrency-mt-unsafe)
  if (said != nullptr) return said;
  std::error_code code;
  const auto beside =
      std::filesystem::read_symlink("/proc/self/exe", code).parent_path() / "rubato-solve";
  for (const std::string& path : {beside.string(), std::string(RUBATO_SOLVE)}) {
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

Result<std::unique_ptr<sim::Solver>> solver_of(const std::string& word,
                                               const std::atomic<bool>& stop) {
  if (word == "own") return std::unique_ptr<sim::Solver>{};
  const std::string program = find_solver();
  if (program.empty() && word == "auto") {
    print_warning(
        "simulate: rubato-solve is not installed: linear programs use path following, those of sia "
        "use branch and bound; figures differ slightly from GLPK's");
    return std::unique_ptr<sim::Solver>{};
  }
  if (program.empty()) {
    return fail(
        "--solver=glpk needs rubato-solve, which is built if GLPK is found (Debian: libglpk-dev); "
        "it is neither in rubato's directory nor at " RUBATO_SOLVE
        ", and RUBATO_SOLVE does not name it");
  }
  return sim::process_solver({program, kSeconds, word == "glpk", &stop});
}

}  // namespace rubato::tools
