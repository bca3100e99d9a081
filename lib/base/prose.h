// SPDX-License-Identifier: GPL-2.0-or-later
// Pieces of the texts that are made from tables: help, man pages, examples.
#pragma once

#include <string>

namespace rubato {

/// `text` broken into lines of at most 79 columns that each begin with `prefix`.
[[nodiscard]] std::string wrapped(const std::string& text, const std::string& prefix);

/// `text` with a capital first letter.
[[nodiscard]] std::string capital(std::string text);

/// Text for man(7): backslashes and minus signs escaped, no line that looks like a request.
[[nodiscard]] std::string roff(const std::string& text);

}  // namespace rubato
