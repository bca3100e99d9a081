// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string_view>

namespace rubato {

/// Version of Rubato, as `configure` knows it ("0.1.0").
std::string_view version();

}  // namespace rubato
