// SPDX-License-Identifier: GPL-2.0-or-later
// Man page and example of rubato.conf, made from the table of options.
#pragma once

#include <string>

namespace rubato {

/// docs/man/rubato.conf.5, in man(7) macros.
[[nodiscard]] std::string man_page_config();

/// configs/rubato.conf.example: every option as a comment, with its default or an example value.
[[nodiscard]] std::string example_config();

}  // namespace rubato
