// SPDX-License-Identifier: GPL-2.0-or-later
// How times and lists are written for people; blanks and parts of a text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/units.h"

namespace rubato {

/// A length of time as Slurm writes it: "01:10:00", "2-00:00:00"; "unlimited" from kForever on.
/// Below 0 counts as 0.
[[nodiscard]] std::string duration_text(Seconds length);

/// The first `at_most` words with commas between them, then "and N more".
[[nodiscard]] std::string list_text(const std::vector<std::string>& words, std::size_t at_most);

/// Length of the UTF-8 sequence at the beginning of `text`, which is not empty; 0 if it is not
/// valid (RFC 3629).
[[nodiscard]] std::size_t utf8_length(std::string_view text);

/// All of `text` is valid UTF-8, as JSON wants it.
[[nodiscard]] bool is_utf8(std::string_view text);

/// `text` without blanks, tabs and line ends at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// Space, tab, carriage return, line feed, vertical tab or form feed, in any locale.
[[nodiscard]] bool is_blank(char c);

/// Splits at each `separator`; an empty text is one empty part.
[[nodiscard]] std::vector<std::string_view> split_at(std::string_view text, char separator);

}  // namespace rubato
