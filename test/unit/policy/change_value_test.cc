// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/market/change_value.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rubato {
namespace {

ChangeTerms running(double held, double cost, double age, int restarts = 0) {
  return {.value = 1000,
          .held = held,
          .cost = cost,
          .stop_cost = cost,
          .age = age,
          .restarts = restarts};
}

TEST(ChangeValue, AChangeWithoutCostIsWorthItsSpeed) {
  const ChangeTerms job = running(100, 0, 10);
  EXPECT_DOUBLE_EQ(value_of_change(job, 50), 2 * value_of_staying(job));
  EXPECT_DOUBLE_EQ(value_of_stopping(job), 0);
}

TEST(ChangeValue, ACostCountsAgainstTheTimeThatTheChangeLasts) {
  EXPECT_LT(value_of_change(running(9000, 60, 600), 5000), 1000.0 / 5000);
  EXPECT_GT(value_of_change(running(9000, 60, 6000), 5000),
            value_of_change(running(9000, 60, 600), 5000))
      << "an old job keeps a change for longer";
  EXPECT_LT(value_of_change(running(9000, 60, 6000, 9), 5000),
            value_of_change(running(9000, 60, 6000), 5000))
      << "one that was changed often does not";
}

TEST(ChangeValue, AtTheEndOfAJobNoRestartPays) {
  const ChangeTerms job = running(20, 60, 1e6);
  EXPECT_LT(value_of_change(job, 10), value_of_staying(job));
}

TEST(ChangeValue, AStopLosesItsCostButNeverMoreThanTheJobIsWorth) {
  const ChangeTerms job = running(100, 60, 600);
  EXPECT_LT(value_of_stopping(job), 0);
  EXPECT_GE(value_of_stopping(job), -value_of_staying(job));
  EXPECT_LT(value_of_stopping(running(100, 600, 600)), value_of_stopping(job));
}

TEST(ChangeValue, WhatIsFasterCountsAsFarAsItIsSure) {
  EXPECT_DOUBLE_EQ(sure_seconds(100, 50, 0), 50);
  EXPECT_DOUBLE_EQ(sure_seconds(100, 50, .1), 50 * std::exp(.1));
  EXPECT_DOUBLE_EQ(sure_seconds(100, 95, .1), 100) << "no more than noise";
  EXPECT_DOUBLE_EQ(sure_seconds(100, 130, .1), 130) << "slower is slower";
}

TEST(ChangeValue, HasNoUnitOfTime) {
  const ChangeTerms job = running(1000, 60, 600, 2);
  ChangeTerms slow = running(60'000, 3600, 36'000, 2);
  EXPECT_DOUBLE_EQ(value_of_change(job, 500), 60 * value_of_change(slow, 30'000));
  EXPECT_DOUBLE_EQ(value_of_stopping(job), 60 * value_of_stopping(slow));
}

}  // namespace
}  // namespace rubato
