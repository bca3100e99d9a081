// SPDX-License-Identifier: GPL-2.0-or-later
// The page of `rubato page`: the cluster at the time of a snapshot, as one HTML file.
#pragma once

#include <string>

#include "tools/rubato/page/page_input.h"

namespace rubato::tools {

/// The page. It depends on `input` and the time zone alone: the same input gives the same bytes.
[[nodiscard]] std::string cluster_page(const PageInput& input);

}  // namespace rubato::tools
