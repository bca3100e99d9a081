// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/market/closing.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rubato {
namespace {

TEST(Closing, JobsAreExpectedWhileTheyKeepComing) {
  EXPECT_LT(closing_of({0, 60, 120, 180}, 200, 36'000).chance, 1e-6);
}

TEST(Closing, AfterALongPauseNobodyIs) {
  const std::vector<Seconds> arrivals{0, 60, 120, 180};
  EXPECT_GT(closing_of(arrivals, 360'000, 3600).chance, .95);
  EXPECT_GT(closing_of(arrivals, 360'000, 3600).chance, closing_of(arrivals, 36'000, 3600).chance);
}

TEST(Closing, OfASingleBurstHalfAnArrivalIsExpectedInItsTime) {
  EXPECT_NEAR(closing_of({1000}, 1000, 3600).chance, std::exp(-.5), 1e-12);
  EXPECT_GT(closing_of({1000}, 4600, 600).chance, closing_of({1000}, 1000, 3600).chance);
  EXPECT_EQ(closing_of({}, 1000, 3600).chance, 0);
}

TEST(Closing, HasNoUnitOfTime) {
  EXPECT_NEAR(closing_of({0, 60, 120}, 600, 300).chance,
              closing_of({0, 3600, 7200}, 36'000, 18'000).chance, 1e-12);
}

TEST(Closing, TheLongestJobsCannotWait) {
  const Closing closing{1, 1000};
  EXPECT_GT(closing_urgency(closing, {900, 20, 20}), closing_urgency(closing, {500, 20, 20}));
  EXPECT_DOUBLE_EQ(closing_urgency({0, 1000}, {900, 20, 20}), 1);
  EXPECT_DOUBLE_EQ(closing_power(closing, .8), 0);
  EXPECT_DOUBLE_EQ(closing_power({0, 1000}, .8), .8);
}

TEST(Closing, MuchTimeToWaitIsAsGoodAsAllOfIt) {
  const Closing closing{1, 1000};
  EXPECT_LT(closing_urgency(closing, {500, 0, 0}), 1.2);
  EXPECT_GT(closing_urgency(closing, {900, 0, 0}), 5);
}

TEST(Closing, AJobThatUsesAllGpusCanBeTheLast) {
  const Closing closing{1, 1000};
  EXPECT_DOUBLE_EQ(closing_urgency(closing, {900, 900, 500}), 1);
  EXPECT_GT(closing_urgency(closing, {900, 450, 450}), closing_urgency(closing, {900, 700, 500}));
}

TEST(Closing, OfASingleJobThereIsNothingToDecide) {
  EXPECT_DOUBLE_EQ(closing_urgency({1, 1000}, {1000, 1000, 1000}), 1);
}

TEST(Closing, AJobThatCannotWaitGainsNoMoreThanABound) {
  const Closing closing{1, 1000};
  EXPECT_DOUBLE_EQ(closing_urgency(closing, {5000, 0, 0}), closing_urgency(closing, {1000, 0, 0}));
}

}  // namespace
}  // namespace rubato
