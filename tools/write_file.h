// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "lib/core/error.h"

namespace rubato::tools {

/// Writes `text` to stdout where `path` is "" or "-"; else whole or not at all to the file, in one
/// rename.
[[nodiscard]] Result<void> write_whole(const std::string& path, const std::string& text);

}  // namespace rubato::tools
