// SPDX-License-Identifier: GPL-2.0-or-later
// Asking another program, for no longer than a time.
#pragma once

#include <string>
#include <vector>

#include "lib/core/error.h"

namespace rubato::tools {

/// Full path of `program` in the folders of PATH, and in the sbin folder beside each bin folder of
/// PATH, where daemons stand that a user's PATH leaves out. Empty if there is none.
[[nodiscard]] std::string find_program(const std::string& program);

/// What `command` wrote to stdout. Fails if it cannot be run, ends with another code than 0, writes
/// more than 4 MiB, or runs longer than `milliseconds`; it is then killed with its process group.
[[nodiscard]] Result<std::string> run_program(const std::vector<std::string>& command,
                                              int milliseconds);

}  // namespace rubato::tools
