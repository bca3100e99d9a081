// SPDX-License-Identifier: GPL-2.0-or-later
// Texts owned by slurmctld.
#pragma once

#include <string>

namespace rubato {

/// Replaces the xmalloc'ed string `to`, which may be null, with a copy of `text`; "" sets null.
void set_text(char*& to, const std::string& text);

/// Copies an xmalloc'ed string, which may be null, and frees it.
[[nodiscard]] std::string take_text(char* text);

}  // namespace rubato
