// SPDX-License-Identifier: GPL-2.0-or-later
// The counterfactual estimate of `rubato report` in the modes observe and place.
#pragma once

#include <string>

#include "lib/replay/counterfactual.h"
#include "tools/shared/site.h"

namespace rubato::tools {

/// Over the last `days` days, from rubato.db and the published snapshot, of runs that started in
/// `mode`. Fails with a sentence that says what is missing.
[[nodiscard]] Result<CounterfactualEstimate> read_counterfactual(const Site& site, Mode mode,
                                                                 int days);

/// The lines that people read, each of at most `width` columns.
[[nodiscard]] std::string counterfactual_text(const CounterfactualEstimate& estimate,
                                              std::size_t width);

}  // namespace rubato::tools
