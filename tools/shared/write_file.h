// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "lib/base/error.h"

namespace rubato::tools {

/// Writes `text` to stdout where `path` is "" or "-"; else to the file. What is nothing yet or a
/// regular file is written whole or not at all, in one rename that keeps mode and owner; of a
/// symbolic link the file that it names. A device or FIFO is opened and written.
[[nodiscard]] Result<void> write_whole(const std::string& path, const std::string& text);

/// Whether write_whole() could begin to write to `path`. Opens and changes nothing.
[[nodiscard]] Result<void> check_writable(const std::string& path);

/// `path` without symbolic links, also where the file is not there yet; as it is if it has no
/// folder.
[[nodiscard]] std::string resolved_path(const std::string& path);

/// Both name one regular file, or one that would be made. Devices and FIFOs may be shared.
[[nodiscard]] bool same_file(const std::string& left, const std::string& right);

}  // namespace rubato::tools
