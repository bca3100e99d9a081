// SPDX-License-Identifier: GPL-2.0-or-later
// The market against an enumeration of all rows, on drawn markets of fixed seeds. What each step
// reaches: test/bench/market_gap, docs/results/market.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/policy/market/allocation.h"
#include "test/support/small_market.h"

namespace rubato {
namespace {

using test::MarketShape;
using test::Tables;

constexpr double kRounding = 1e-9;

double sum_held(const Market& market) {
  double sum = 0;
  for (const MarketJob& job : market.jobs) sum += value_of(job, job.stays);
  return sum;
}

// The share of the best sum that the rows lose. They fit, and no sum is above the best.
double lost_by(const Market& market, const std::vector<int>& rows, double best) {
  const std::vector<int> free = test::free_gpus(market, rows);
  EXPECT_GE(*std::min_element(free.begin(), free.end()), 0);
  const double sum = test::sum_of_values(market, rows);
  EXPECT_LE(sum, best * (1 + kRounding));
  return best > 0 ? 1 - sum / best : 0;
}

// The mean share lost over markets of the seeds from 1 on must be below `most`. Without the search
// at least 1.3 times as much is lost.
void expect_near_best(const MarketShape& shape, int markets, double most) {
  double lost = 0;
  double lost_without_search = 0;
  int exact = 0;
  for (int seed = 1; seed <= markets; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Market market = test::SmallMarket(static_cast<std::uint64_t>(seed), shape).draw();
    const double best = test::best_sum(market);
    const std::vector<int> rows = allocate(market).row;
    EXPECT_GE(test::sum_of_values(market, rows), sum_held(market) * (1 - kRounding));
    const double share = lost_by(market, rows, best);
    exact += share < kRounding ? 1 : 0;
    lost += share / markets;
    lost_without_search += lost_by(market, allocate(market, 0).row, best) / markets;
  }
  EXPECT_LT(lost, most) << exact << " of " << markets << " have the best sum";
  EXPECT_GT(lost_without_search, 1.3 * lost);
  testing::Test::RecordProperty("mean_lost_share", std::to_string(lost));
  testing::Test::RecordProperty("exact", exact);
}

TEST(MarketGap, IsBelowHalfAPercentOnRowsOfAnyValue) {
  expect_near_best({Tables::kAnyValue, 3, 6}, 1000, .0031);
  expect_near_best({Tables::kAnyValue, 3, 10}, 1000, .0045);
}

// Gangs on pools of few GPUs: often two jobs would have to make room for a third at once, and the
// search asks one. These bounds are above the half percent that is aimed at.
TEST(MarketGap, IsBelowOnePercentOnWaitingTrainingJobs) {
  expect_near_best({Tables::kTraining, 3, 6}, 1000, .0074);
}

TEST(MarketGap, IsBelowOnePercentBesideRunningJobs) {
  expect_near_best({Tables::kRunning, 3, 6}, 1000, .0062);
}

TEST(MarketGap, IsBelowTwoPercentOfTenJobsOnFourPools) {
  expect_near_best({Tables::kTraining, 4, 10}, 200, .015);
  expect_near_best({Tables::kRunning, 4, 10}, 200, .012);
}

}  // namespace
}  // namespace rubato
