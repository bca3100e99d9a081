// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "lib/base/error.h"
#include "lib/base/units.h"

namespace rubato::tools {

/// Contents of a file of at most 64 MiB, or of standard input for "-".
[[nodiscard]] Result<std::string> read_bounded_file(const std::string& path);

/// "2026-11-21" or "2026-11-21T12:30:00" in local time. The error names the expected form.
[[nodiscard]] Result<Seconds> parse_time(const std::string& text);

}  // namespace rubato::tools
