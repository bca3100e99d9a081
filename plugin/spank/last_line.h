// SPDX-License-Identifier: GPL-2.0-or-later
// The last report in a file with possibly arbitrary content.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "lib/base/error.h"

namespace rubato {

/// A complete line and its position.
struct LastLine {
  std::string text;       ///< without the newline
  std::int64_t end = 0;   ///< its end, in bytes from the start of the file
  std::int64_t file = 0;  ///< inode: a line in another file is another line

  bool operator==(const LastLine&) const = default;
};

/// The last line of `path` that is complete and at most as long as a message. nullopt if there is
/// none, or if `path` is not a plain file of `owner`. Does not open links, pipes or files of
/// others. Reads at most the last 4 KB and never blocks.
[[nodiscard]] std::optional<LastLine> read_last_line(const std::string& path, uid_t owner);

/// Keeps the last sent line in the open file `claim`, so that a later forwarder does not repeat it.
void keep_sent(int claim, const LastLine& line);
/// The line that keep_sent stored; an empty one if there is none.
[[nodiscard]] LastLine kept_sent(int claim);

/// The message for a line of the file, "rubato!report ..."; the error says why the line is none.
[[nodiscard]] Result<std::string> message_of_line(const std::string& line);

}  // namespace rubato
