// SPDX-License-Identifier: GPL-2.0-or-later
// The last report in a file that its writer may have filled with anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rubato {

/// A line that ended, and where.
struct LastLine {
  std::string text;       ///< without its end
  std::int64_t end = 0;   ///< bytes from the beginning of the file
  std::int64_t file = 0;  ///< inode: another file is another line

  bool operator==(const LastLine&) const = default;
};

/// The last line of `path` that is complete and at most a message long. Nothing when there is none,
/// or when `path` is no plain file of this process's user: links, pipes and the files of others are
/// not opened. Never more than the last 4 KB are read, and nothing is waited for.
[[nodiscard]] std::optional<LastLine> read_last_line(const std::string& path);

/// The message that a line of the file stands for, "rubato!report ..."; nothing when it is none.
[[nodiscard]] std::optional<std::string> message_of_line(const std::string& line);

}  // namespace rubato
