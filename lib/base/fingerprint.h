// SPDX-License-Identifier: GPL-2.0-or-later
// Short names of texts by their content.
#pragma once

#include <string>
#include <string_view>

namespace rubato {

/// 16 hex digits (XXH64) of `text`.
[[nodiscard]] std::string fingerprint(std::string_view text);

}  // namespace rubato
