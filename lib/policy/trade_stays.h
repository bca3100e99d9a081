// SPDX-License-Identifier: GPL-2.0-or-later
// Stage trade: why running jobs keep their GPUs.
#pragma once

#include <vector>

#include "lib/policy/trade_nodes.h"

namespace rubato {

/// Standard deviation of the difference of the forecasts of two configurations, as logarithms.
[[nodiscard]] double noise_between(const RoundInput& input, const NextConfiguration& a,
                                   const NextConfiguration& b);

/// A record for each running job of the market that keeps its GPUs, sorted by job. The other
/// configuration is the one that the market gave the job, if it found no nodes for it; else the one
/// worth most of those worth more than the present one; else the one that ends the job the
/// earliest. No figure is forecast anew. `changes`: of the same round.
[[nodiscard]] std::vector<Stay> stays_of(const MarketOutcome& outcome,
                                         const std::vector<Change>& changes);

/// The record of a running job that may not change now, which is not in the market.
[[nodiscard]] Stay stay_of_bound(const ConfigurationTable& table);

}  // namespace rubato
