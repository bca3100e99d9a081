// SPDX-License-Identifier: GPL-2.0-or-later
// Man page of the hints, made from the tables of lib/hints/.
#pragma once

#include <string>

namespace rubato {

/// docs/man/rubato-hints.7, in man(7) macros.
[[nodiscard]] std::string man_page_hints();

}  // namespace rubato
