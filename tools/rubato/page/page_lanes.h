// SPDX-License-Identifier: GPL-2.0-or-later
// The charts of `rubato page`: which job holds which GPUs, before and after the snapshot.
#pragma once

#include <string>

#include "tools/rubato/page/page_holders.h"
#include "tools/rubato/page/page_input.h"

namespace rubato::tools {

/// One chart for each GPU type, with the legend; a sentence where there are too many GPUs for a
/// chart, "" where no nodes are shown.
[[nodiscard]] std::string lanes_section(const PageInput& input, const Holders& holders);

}  // namespace rubato::tools
