// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lib/policy/market/allocation.h"
#include "lib/policy/market/precedence.h"
#include "lib/policy/market/prices.h"
#include "lib/policy/market/rank_value.h"
#include "test/support/small_market.h"

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

// Of four classes; a job that runs holds a row.
std::vector<ClassedJob> draw_classes(const Market& market) {
  std::vector<ClassedJob> classes;
  for (const MarketJob& job : market.jobs) classes.push_back({draw(0, 3), job.stays != kNoRow});
  return classes;
}

// What running jobs hold fits.
void give_held(Market& market) {
  std::vector<int> held(market.gpus.size(), 0);
  for (const MarketJob& job : market.jobs) {
    for (std::size_t pool = 0; pool < held.size(); ++pool)
      held[pool] += gpus_in(job, job.stays, static_cast<int>(pool));
  }
  for (std::size_t pool = 0; pool < held.size(); ++pool)
    market.gpus[pool] = held[pool] + draw(0, 3);
}

void nothing_of_use_is_free(const Market& market, const Allocation& got) {
  const std::vector<int> free = test::free_gpus(market, got.row);
  for (std::size_t i = 0; i < got.row.size(); ++i) {
    for (const MarketRow& row : market.jobs[i].rows) {
      const int own = gpus_in(market.jobs[i], got.row[i], row.pool);
      const bool fits = row.gpus <= free[static_cast<std::size_t>(row.pool)] + own;
      RC_ASSERT(!fits || row.value <= value_of(market.jobs[i], got.row[i]));
    }
  }
}

RC_GTEST_PROP(MarketProperties, AnAllocationFits, ()) {
  const Market market = draw_market(30, 6);
  const Allocation got = allocate(market);
  RC_ASSERT(got.row.size() == market.jobs.size());
  for (std::size_t i = 0; i < got.row.size(); ++i)
    RC_ASSERT(value_of(market.jobs[i], got.row[i]) >= 0);
  const std::vector<int> free = test::free_gpus(market, got.row);
  RC_ASSERT(*std::min_element(free.begin(), free.end()) >= 0);
}

// No job alone could do better on what was left.
RC_GTEST_PROP(MarketProperties, NothingOfUseIsLeftFree, ()) {
  const Market market = draw_market(30, 6);
  nothing_of_use_is_free(market, allocate(market));
}

RC_GTEST_PROP(MarketProperties, AnAllocationByClassFitsAndLeavesNothingOfUse, ()) {
  Market market = draw_market(30, 6);
  give_held(market);
  const Allocation got = allocate_by_class(market, draw_classes(market));
  const std::vector<int> free = test::free_gpus(market, got.row);
  RC_ASSERT(*std::min_element(free.begin(), free.end()) >= 0);
  nothing_of_use_is_free(market, got);
}

// Who of a class has a row does not depend on the jobs of later classes that wait.
RC_GTEST_PROP(MarketProperties, LaterClassesTakeNothingFromEarlierOnes, ()) {
  Market market = draw_market(20, 4);
  give_held(market);
  const std::vector<ClassedJob> classes = draw_classes(market);
  const int last = draw(0, 2);
  Market without{market.gpus, {}};
  std::vector<ClassedJob> left;
  std::vector<std::size_t> index;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (!classes[i].runs && classes[i].place > last) continue;
    without.jobs.push_back(market.jobs[i]);
    left.push_back(classes[i]);
    index.push_back(i);
  }
  RC_CLASSIFY(index.size() < classes.size(), "somebody waits behind");
  const Allocation all = allocate_by_class(market, classes);
  const Allocation first = allocate_by_class(without, left);
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (left[i].place <= last && first.row[i] != kNoRow) RC_ASSERT(all.row[index[i]] != kNoRow);
  }
}

RC_GTEST_PROP(MarketProperties, WhoKeepsARowNeverLosesTheLastOne, ()) {
  Market market = draw_market(30, 6);
  give_held(market);
  std::vector<ClassedJob> classes = draw_classes(market);
  for (ClassedJob& job : classes) job.keeps = job.runs && draw(0, 1) == 0;
  for (MarketJob& job : market.jobs) {
    for (MarketRow& row : job.rows) row.value -= draw(0, 1) * 500;  // a stop may be worth more
  }
  const Allocation got = allocate_by_class(market, classes);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].keeps) RC_ASSERT(got.row[i] != kNoRow);
  }
}

RC_GTEST_PROP(MarketProperties, OneClassIsTheMarketItself, ()) {
  const Market market = draw_market(30, 6);
  const std::vector<ClassedJob> classes(market.jobs.size(), ClassedJob{2, false, false});
  const Allocation one = allocate(market);
  const Allocation two = allocate_by_class(market, classes);
  RC_ASSERT(one.row == two.row && one.price == two.price);
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
  const double bound = test::bound_by(market, market_prices(market));
  RC_ASSERT(test::best_sum(market) <= bound * (1 + 1e-12));
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

// How near it comes, on average: test/unit/policy/market_gap_test.cc, on fixed seeds.
RC_GTEST_PROP(MarketProperties, NoAllocationIsAboveTheBestOfAllRows, ()) {
  const Market market = draw_market(10, 4);
  const double sum = test::sum_of_values(market, allocate(market).row);
  RC_ASSERT(sum <= test::best_sum(market) * (1 + 1e-12));
}

}  // namespace
}  // namespace rubato
