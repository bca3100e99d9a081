// SPDX-License-Identifier: GPL-2.0-or-later
// The table of options as people read it. Pure text; no option is described anywhere else.
#pragma once

#include <string>

namespace rubato {

/// What `rubato --help-config` prints: one paragraph an option, lines of at most 80 columns.
/// `testing` adds the test-only ones.
[[nodiscard]] std::string help_config(bool testing = false);

/// docs/man/rubato.conf.5, in man(7) macros.
[[nodiscard]] std::string man_page_config();

/// configs/rubato.conf.example: every option but the test-only ones, as a comment with its default
/// or an example value.
[[nodiscard]] std::string example_config();

}  // namespace rubato
