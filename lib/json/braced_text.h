// SPDX-License-Identifier: GPL-2.0-or-later
// Texts of Rubato in one that others write too: `{NAME key=value ...}`.
#pragma once

#include <string>
#include <string_view>

namespace rubato {

/// The first such text at or behind `from` that begins with `open` ("{rubato "), braces included; a
/// view into `text`, empty if there is none. It holds no brace, so one that somebody cut off
/// does not swallow the next.
[[nodiscard]] std::string_view find_braced(std::string_view text, std::string_view open,
                                           std::size_t from = 0);

/// `text` with its braced text replaced by `braced`, or with that added behind a blank; all such
/// texts, and the blank that was added, go where it is empty. Other text is kept byte for byte.
[[nodiscard]] std::string with_braced(std::string_view text, std::string_view open,
                                      std::string_view braced);

}  // namespace rubato
