// SPDX-License-Identifier: GPL-2.0-or-later
// Asking another program, for no longer than a time.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/base/error.h"

namespace rubato::tools {

/// Full path of `program` in the folders of PATH, and in the sbin folder beside each bin folder of
/// PATH, where daemons stand that a user's PATH leaves out. Empty if there is none.
[[nodiscard]] std::string find_program(const std::string& program);

/// Result of a program.
struct ProcessResult {
  std::string out;  ///< its stdout
  int exit = 0;     ///< its exit code
};

struct RunOptions {
  int milliseconds = 5000;  ///< it is killed when it runs longer
  std::size_t max_output = 4U << 20U;
  bool show_errors = false;  ///< it writes to our stderr; else what it writes there is lost
  /// In a process group of its own, which is killed with it. Without, Ctrl-C reaches it too.
  bool own_group = true;
  std::vector<std::pair<std::string, std::string>> environment;  ///< set for it
};

/// Runs `command` (a full path and arguments, no shell). Fails if it cannot be run, is ended by a
/// signal, or goes beyond a bound of `options`.
[[nodiscard]] Result<ProcessResult> run_for_outcome(const std::vector<std::string>& command,
                                                    const RunOptions& options);

/// What `command` wrote to stdout. Fails if it cannot be run, ends with another code than 0, writes
/// more than 4 MiB, or runs longer than `milliseconds`; it is then killed with its process group.
[[nodiscard]] Result<std::string> run_program(const std::vector<std::string>& command,
                                              int milliseconds);

}  // namespace rubato::tools
