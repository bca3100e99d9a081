// SPDX-License-Identifier: GPL-2.0-or-later
// Texts that slurmctld owns.
#pragma once

#include <string>

namespace rubato {

/// Replaces the xmalloc'ed string `to`, which may be null, by a copy of `text`; "" makes it null.
void set_text(char*& to, const std::string& text);

}  // namespace rubato
