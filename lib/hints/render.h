// SPDX-License-Identifier: GPL-2.0-or-later
// The tables of hints, rules and messages as people read them. Pure text; nothing is described
// anywhere else.
#pragma once

#include <string>

namespace rubato {

/// One paragraph a hint, lines of at most 79 columns.
[[nodiscard]] std::string help_hints();

/// docs/man/rubato-hints.7, in man(7) macros.
[[nodiscard]] std::string man_page_hints();

}  // namespace rubato
