// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "lib/base/error.h"
#include "lib/base/units.h"

namespace rubato::tools {

/// The whole of a file of at most 64 MiB; of standard input for "-".
[[nodiscard]] Result<std::string> read_bounded_file(const std::string& path);

/// "2026-11-21" or "2026-11-21T12:30:00" in local time. The error says what would be right.
[[nodiscard]] Result<Seconds> parse_time(const std::string& text);

}  // namespace rubato::tools
