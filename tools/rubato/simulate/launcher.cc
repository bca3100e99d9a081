// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato simulate` and `rubato validate` of the program `rubato`: hand over to rubato-simulate, so
// that a site which only schedules builds neither.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tools/rubato/simulate/launched.h"
#include "tools/shared/command.h"
#include "tools/shared/output.h"

// The Makefile sets the installation path.
#ifndef RUBATO_SIMULATE
#define RUBATO_SIMULATE "/usr/local/libexec/rubato/rubato-simulate"
#endif

namespace rubato::tools {
namespace {

int run_simulator(char** argv) {
  std::error_code code;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", code).parent_path();
  const auto beside = folder / "rubato-simulate";
  const auto relocated = folder.parent_path() / "libexec/rubato/rubato-simulate";
  for (const std::string& path :
       {beside.string(), relocated.string(), std::string(RUBATO_SIMULATE)}) {
    if (access(path.c_str(), X_OK) != 0) continue;
    execv(path.c_str(), argv);
    print_error(fmt::format("{}: cannot run {}: {}", argv[1], path, std::strerror(errno)));
    return kFailed;
  }
  print_error(fmt::format(
      "{}: rubato-simulate is not installed; it is neither beside rubato nor at {}; make and make "
      "install build and install it",
      argv[1], RUBATO_SIMULATE));
  return kFailed;
}

}  // namespace

Command simulate_command() {
  return {.name = kSimulateName,
          .summary = kSimulateSummary,
          .arguments = "",
          .setup = nullptr,
          .run = &run_simulator};
}

Command validate_command() {
  return {.name = kValidateName,
          .summary = kValidateSummary,
          .arguments = "",
          .setup = nullptr,
          .run = &run_simulator};
}

}  // namespace rubato::tools
