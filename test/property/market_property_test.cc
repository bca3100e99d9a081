// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lib/policy/market/allocation.h"
#include "lib/policy/market/prices.h"
#include "lib/policy/market/rank_value.h"

namespace rubato {
namespace {

int draw(int from, int to) { return *rc::gen::inRange(from, to + 1); }

MarketJob draw_job(int pools, int rows) {
  MarketJob job;
  for (int i = draw(1, rows); i > 0; --i)
    job.rows.push_back({draw(0, pools - 1), draw(1, 4), static_cast<double>(draw(1, 1000))});
  job.stays = draw(kNoRow, static_cast<int>(job.rows.size()) - 1);
  return job;
}

Market draw_market(int jobs, int rows) {
  Market market;
  for (int i = draw(1, 3); i > 0; --i) market.gpus.push_back(draw(0, 8));
  for (int i = draw(1, jobs); i > 0; --i)
    market.jobs.push_back(draw_job(static_cast<int>(market.gpus.size()), rows));
  return market;
}

double sum_of(const Market& market, const std::vector<int>& rows) {
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) sum += value_of(market.jobs[i], rows[i]);
  return sum;
}

// The highest sum of the jobs from `job` on.
double brute_force(const Market& market, std::size_t job, std::vector<int>& free) {
  if (job == market.jobs.size()) return 0;
  double best = brute_force(market, job + 1, free);
  for (const MarketRow& row : market.jobs[job].rows) {
    int& left = free[static_cast<std::size_t>(row.pool)];
    if (row.gpus > left) continue;
    left -= row.gpus;
    best = std::max(best, row.value + brute_force(market, job + 1, free));
    left += row.gpus;
  }
  return best;
}

double best_of(const Market& market) {
  std::vector<int> free = market.gpus;
  return brute_force(market, 0, free);
}

RC_GTEST_PROP(MarketProperties, AnAllocationFits, ()) {
  const Market market = draw_market(30, 6);
  const Allocation got = allocate(market);
  RC_ASSERT(got.row.size() == market.jobs.size());
  std::vector<int> free = market.gpus;
  for (std::size_t i = 0; i < got.row.size(); ++i) {
    for (std::size_t pool = 0; pool < free.size(); ++pool)
      free[pool] -= gpus_in(market.jobs[i], got.row[i], static_cast<int>(pool));
    RC_ASSERT(value_of(market.jobs[i], got.row[i]) >= 0);
  }
  RC_ASSERT(*std::min_element(free.begin(), free.end()) >= 0);
}

// No job alone could do better on what was left.
RC_GTEST_PROP(MarketProperties, NothingOfUseIsLeftFree, ()) {
  const Market market = draw_market(30, 6);
  const Allocation got = allocate(market);
  std::vector<int> free = market.gpus;
  for (std::size_t pool = 0; pool < free.size(); ++pool) {
    for (std::size_t i = 0; i < got.row.size(); ++i)
      free[pool] -= gpus_in(market.jobs[i], got.row[i], static_cast<int>(pool));
  }
  for (std::size_t i = 0; i < got.row.size(); ++i) {
    for (const MarketRow& row : market.jobs[i].rows) {
      const int own = gpus_in(market.jobs[i], got.row[i], row.pool);
      const bool fits = row.gpus <= free[static_cast<std::size_t>(row.pool)] + own;
      RC_ASSERT(!fits || row.value <= value_of(market.jobs[i], got.row[i]));
    }
  }
}

RC_GTEST_PROP(MarketProperties, WhatIsBoughtFits, ()) {
  Market market = draw_market(30, 6);
  for (MarketJob& job : market.jobs) {
    for (MarketRow& row : job.rows) row.value /= 7;  // quotients that rounding changes
  }
  const std::vector<double> prices = market_prices(market);
  for (std::size_t pool = 0; pool < prices.size(); ++pool) {
    int gpus = 0;
    for (const MarketJob& job : market.jobs)
      gpus += gpus_in(job, bought(job, prices), static_cast<int>(pool));
    RC_ASSERT(gpus <= market.gpus[pool]);
  }
}

// By no other rows is the sum higher than what the prices take in, and what is left of values.
RC_GTEST_PROP(MarketProperties, PricesBoundTheBestSum, ()) {
  const Market market = draw_market(6, 4);
  const std::vector<double> prices = market_prices(market);
  double bound = 0;
  for (std::size_t pool = 0; pool < prices.size(); ++pool)
    bound += prices[pool] * market.gpus[pool];
  for (const MarketJob& job : market.jobs) {
    const int row = bought(job, prices);
    if (row == kNoRow) continue;
    const MarketRow& taken = job.rows[static_cast<std::size_t>(row)];
    bound += taken.value - prices[static_cast<std::size_t>(taken.pool)] * taken.gpus;
  }
  RC_ASSERT(best_of(market) <= bound * (1 + 1e-12));
}

RC_GTEST_PROP(MarketProperties, EnoughForAllIsTheBestForEach, ()) {
  Market market = draw_market(30, 6);
  for (int& gpus : market.gpus) gpus = 4 * 30;
  const Allocation got = allocate(market);
  for (std::size_t i = 0; i < got.row.size(); ++i) {
    for (const MarketRow& row : market.jobs[i].rows)
      RC_ASSERT(row.value <= value_of(market.jobs[i], got.row[i]));
  }
  for (const double price : got.price) RC_ASSERT(price == 0);
}

// The unit of the values changes nothing. A power of two changes no digit either.
RC_GTEST_PROP(MarketProperties, TheUnitOfValuesDoesNotMatter, ()) {
  const Market market = draw_market(30, 6);
  Market other = market;
  const double factor = draw(0, 1) == 0 ? 1.0 / 1024 : 4096;
  for (MarketJob& job : other.jobs) {
    for (MarketRow& row : job.rows) row.value *= factor;
  }
  const Allocation one = allocate(market);
  const Allocation two = allocate(other);
  RC_ASSERT(one.row == two.row);
  for (std::size_t pool = 0; pool < one.price.size(); ++pool)
    RC_ASSERT(one.price[pool] * factor == two.price[pool]);
}

RC_GTEST_PROP(MarketProperties, TheUnitOfTimeDoesNotChangeRanks, ()) {
  std::vector<RankedJob> jobs;
  for (int i = draw(1, 20); i > 0; --i)
    jobs.push_back({1.0 * draw(0, 1000), 1.0 * draw(1, 1000), 1.0 * draw(1, 1000)});
  std::vector<RankedJob> slower = jobs;
  for (RankedJob& job : slower) {
    job.age *= 60;
    job.seconds *= 60;
    job.area *= 60;
  }
  const auto one = rank_values(jobs);
  const auto two = rank_values(slower);
  for (std::size_t i = 0; i < one.size(); ++i)
    RC_ASSERT(two[i] > one[i] * 60 * (1 - 1e-9) && two[i] < one[i] * 60 * (1 + 1e-9));
}

// The mean over drawn markets with up to ten jobs of up to four rows, and how often it is exact.
TEST(MarketProperties, IsNearTheBestOfAllRows) {
  double lost = 0;
  int exact = 0;
  int markets = 0;
  rc::check("near the best", [&] {
    const Market market = draw_market(10, 4);
    const double best = best_of(market);
    if (best <= 0) return;
    const double share = sum_of(market, allocate(market).row) / best;
    lost += 1 - share;
    exact += share > 1 - 1e-12 ? 1 : 0;
    ++markets;
    RC_ASSERT(share <= 1 + 1e-12);
  });
  ASSERT_GT(markets, 20);
  RecordProperty("mean_lost_share", std::to_string(lost / markets));
  RecordProperty("exact_of", std::to_string(exact) + " of " + std::to_string(markets));
  EXPECT_LT(lost / markets, .005);
}

}  // namespace
}  // namespace rubato
