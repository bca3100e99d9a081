// SPDX-License-Identifier: GPL-2.0-or-later
// Prices at which the jobs' own choices fit the GPUs.
#pragma once

#include <vector>

#include "lib/policy/market/market.h"

namespace rubato {

/// What `job` buys: the row of most value less its price, if that is above 0. Of equal ones the row
/// it holds goes first, then one of fewer GPUs, then the first. Waiting is the choice at 0.
[[nodiscard]] int bought(const MarketJob& job, const std::vector<double>& prices);

/// For each pool the least price at which what is bought fits it, given the prices of the others:
/// the dual prices of the problem that allocate() solves, by coordinate descent. 0 for a pool that
/// is not short. What is bought at these prices fits all pools. A change of unit of the values
/// changes the prices by the same factor.
[[nodiscard]] std::vector<double> market_prices(const Market& market);

}  // namespace rubato
