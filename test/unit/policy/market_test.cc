// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <cmath>

#include <vector>

#include "lib/policy/market/allocation.h"
#include "lib/policy/market/precedence.h"
#include "lib/policy/market/prices.h"
#include "lib/policy/market/rank_value.h"

namespace rubato {
namespace {

using Rows = std::vector<int>;

TEST(RankValue, AShortJobIsWorthMoreASecondThanALongOne) {
  const auto values = rank_values({{0, 100, 100}, {0, 1000, 1000}, {0, 10, 10}});
  EXPECT_GT(values[0] / 100, values[1] / 1000);
  EXPECT_GT(values[2] / 10, values[0] / 100);
}

TEST(RankValue, EqualJobsDelayEachOtherByHalf) {
  const auto values = rank_values({{5, 100, 100}, {5, 100, 100}}, 1);
  EXPECT_DOUBLE_EQ(values[0], 150);
  EXPECT_DOUBLE_EQ(values[1], 150);
}

// The quotients differ by the fourth root of the ratio of lengths.
TEST(RankValue, AJobThatIsNearlyWorthAsMuchCountsInPart) {
  const double apart = std::exp(2 * kRankBlur);  // in logarithms half of kRankBlur
  const auto near = rank_values({{0, 100, 100}, {0, 100 * apart, 100 * apart}}, 1);
  const double weight = std::pow(apart, kAgePower);
  const double mean = (1 + weight) / 2;
  EXPECT_NEAR(near[0], 100 * (1 + .75 * weight) / mean, 1e-9);
  EXPECT_NEAR(near[1], 100 * apart * (weight + .25) / mean, 1e-9);
  const auto far = rank_values({{0, 100, 100}, {0, 1e6, 1e6}}, 1);
  EXPECT_NEAR(far[0], 200, 1e-9) << "it delays the other whole";
}

// Alone, a job delays itself: its value is its area.
TEST(RankValue, OfASingleJobIsItsArea) {
  EXPECT_DOUBLE_EQ(rank_values({{7, 100, 400}})[0], 400);
  EXPECT_TRUE(rank_values({}).empty());
}

TEST(RankValue, AgeAndTheWeightOfTheAccountRaiseIt) {
  const RankedJob plain{0, 100, 100};
  EXPECT_GT(rank_values({{900, 100, 100}, plain})[0], rank_values({plain, plain})[0]);
  EXPECT_GT(rank_values({{0, 100, 100, 3}, plain})[0], rank_values({plain, plain})[0]);
}

TEST(MarketPrices, AreZeroWhereAllThatIsWantedFits) {
  const Market market{{4, 1}, {{{{0, 2, 5}}}, {{{0, 2, 3}, {1, 1, 1}}}}};
  EXPECT_EQ(market_prices(market), (std::vector<double>{0, 0}));
}

// Two jobs want the one GPU: it costs what the loser would have paid.
TEST(MarketPrices, IsWhatTheFirstThatGoesWithoutWouldPay) {
  const Market market{{1}, {{{{0, 1, 8}}}, {{{0, 1, 3}}}}};
  EXPECT_NEAR(market_prices(market)[0], 3, 8.0 / 65536);
}

TEST(Bought, OfEqualRowsTheOneHeldStays) {
  MarketJob job{{{0, 1, 4}, {1, 1, 4}, {2, 1, 4}}};
  EXPECT_EQ(bought(job, {1, 1, 1}), 0);
  job.stays = 2;
  EXPECT_EQ(bought(job, {1, 1, 1}), 2);
  EXPECT_EQ(bought(job, {4, 4, 4}), kNoRow) << "worth no more than it costs";
}

// R runs in the second class, A waits in the first, B in the second, D in the third. A gets its row
// only when B makes R give way, and D must not outbid it.
TEST(AllocateByClass, AJobKeepsTheRowThatItGotBesideALaterClass) {
  const Market market{{4}, {{{{0, 4, 10}}, 0}, {{{0, 2, 3}}}, {{{0, 2, 11}}}, {{{0, 2, 4}}}}};
  const std::vector<ClassedJob> classes{{1, true}, {0}, {1}, {2}};
  EXPECT_EQ(allocate_by_class(market, classes).row, (Rows{kNoRow, 0, 0, kNoRow}));
}

TEST(AllocateByClass, WhoKeepsARowGivesWayToNobody) {
  const Market market{{4}, {{{{0, 4, 1}}, 0}, {{{0, 4, 100}}}}};
  EXPECT_EQ(allocate_by_class(market, {{0, true, false}, {0}}).row, (Rows{kNoRow, 0}));
  EXPECT_EQ(allocate_by_class(market, {{0, true, true}, {0}}).row, (Rows{0, kNoRow}));
}

TEST(Allocate, NothingToGive) {
  EXPECT_TRUE(allocate({}).row.empty());
  EXPECT_EQ(allocate({{0}, {{{{0, 1, 5}}}}}).row, (Rows{kNoRow}));
  EXPECT_EQ(allocate({{4}, {{}}}).row, (Rows{kNoRow}));
}

TEST(Allocate, ARowBelowNothingIsNeverTaken) {
  EXPECT_EQ(allocate({{4}, {{{{0, 1, -5}}}}}).row, (Rows{kNoRow}));
}

// At prices alone, either all jobs of a kind buy the larger size or none does.
TEST(Allocate, WhatPricesLeaveFreeIsFilled) {
  const MarketJob job{{{0, 1, 3}, {0, 2, 5}}};
  const Allocation got = allocate({{5}, {job, job, job}});
  EXPECT_EQ(got.row, (Rows{1, 1, 0}));
}

// A GPU each is worth 10 a GPU, but the gang of four is worth 44.
TEST(Allocate, AGangMeetsManySmallJobs) {
  Market market{{4}, {{{{0, 4, 44}}}}};
  for (int i = 0; i < 4; ++i) market.jobs.push_back({{{0, 1, 10}}});
  EXPECT_EQ(allocate(market).row, (Rows{0, kNoRow, kNoRow, kNoRow, kNoRow}));
  market.jobs[0].rows[0].value = 36;
  EXPECT_EQ(allocate(market).row, (Rows{kNoRow, 0, 0, 0, 0}));
}

// At prices the gang goes without, though it is worth more than both others together.
TEST(Allocate, WhatJobsHoldStaysIfItIsWorthMore) {
  const std::vector<MarketJob> others{{{{0, 1, 2.33}}}, {{{0, 1, 2.06}}}};
  MarketJob gang{{{0, 4, 9}}};
  EXPECT_EQ(allocate({{4}, {gang, others[0], others[1]}}).row, (Rows{kNoRow, 0, 0}));
  gang.stays = 0;
  EXPECT_EQ(allocate({{4}, {gang, others[0], others[1]}}).row, (Rows{0, kNoRow, kNoRow}));
  gang.rows[0].value = 4;
  EXPECT_EQ(allocate({{4}, {gang, others[0], others[1]}}).row, (Rows{kNoRow, 0, 0}));
}

// One that does not fit any more does not count.
TEST(Allocate, WhatJobsHeldOnLostNodesIsGone) {
  EXPECT_EQ(allocate({{2}, {{{{0, 4, 9}}, 0}, {{{0, 1, 2}}}}}).row, (Rows{kNoRow, 0}));
}

TEST(Allocate, AJobMakesRoomInAnotherPool) {
  // The first is worth most in pool 0, the second runs there only.
  const Market market{{1, 1}, {{{{0, 1, 9}, {1, 1, 8}}}, {{{0, 1, 5}}}}};
  EXPECT_EQ(allocate(market).row, (Rows{1, 0}));
}

// Each is worth more where the other runs, and nothing is free.
TEST(Allocate, TwoJobsExchangePools) {
  const Market market{{1, 1}, {{{{0, 1, 5}, {1, 1, 9}}, 0}, {{{0, 1, 8}, {1, 1, 6}}, 1}}};
  EXPECT_EQ(improve(market, {0, 0}, {0, 1}), (Rows{1, 0}));
}

}  // namespace
}  // namespace rubato
