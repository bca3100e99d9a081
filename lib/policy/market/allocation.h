// SPDX-License-Identifier: GPL-2.0-or-later
// Which row each job gets.
#pragma once

#include "lib/policy/market/market.h"

namespace rubato {

/// How often the local search goes over all jobs.
inline constexpr int kSearchPasses = 2;

/// For each row that a job would rather have, so many jobs are asked to make room, those with least
/// value a GPU first.
inline constexpr int kPartners = 16;

/// Rows of a high sum of values that fit the GPUs of each pool. The same market gives the same
/// rows.
///
/// What the jobs buy at market_prices() is taken. What stays free goes to the upgrades of most
/// value a GPU. Then a local search: a job goes to a better row, and one other job makes room for
/// it, as long as the sum grows, in at most `passes` passes over all jobs. The same is tried from
/// the rows that jobs hold, and taken if the sum is at least as high, so that a small change of
/// prices moves no job.
[[nodiscard]] Allocation allocate(const Market& market, int passes = kSearchPasses);

/// Fills and searches from `rows`, which fit. The sum does not fall. `prices`: market_prices().
[[nodiscard]] std::vector<int> improve(const Market& market, const std::vector<double>& prices,
                                       const std::vector<int>& rows, int passes = kSearchPasses);

}  // namespace rubato
