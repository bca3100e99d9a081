// SPDX-License-Identifier: GPL-2.0-or-later
// Medians, means and percentiles.
#include "lib/base/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rubato {
namespace {

TEST(Statistics, MedianOfAnEvenNumberIsTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 9}), 3);
}

TEST(Statistics, UpperMedianIsAlwaysOneOfTheValues) {
  EXPECT_EQ(upper_median({3}), 3);
  EXPECT_EQ(upper_median({9, 1, 2}), 2);
  EXPECT_EQ(upper_median({4, 1, 2, 9}), 4);
}

TEST(Statistics, WeightedMedianReachesHalfOfTheWeight) {
  EXPECT_EQ(weighted_median({{1, 1}, {2, 1}, {3, 1}}), 2);
  EXPECT_EQ(weighted_median({{3, 5}, {1, 1}, {2, 1}}), 3);
  EXPECT_EQ(weighted_median({{1, 1}, {2, 1}}), 1);
  EXPECT_EQ(weighted_median({{2, 0}, {1, 0}}), 1);
}

TEST(Statistics, SortedMeanDoesNotDependOnTheOrder) {
  const std::vector<double> values = {1e16, 1, -1e16, 3, 0.1};
  const std::vector<double> other = {0.1, 1e16, 3, 1, -1e16};
  EXPECT_EQ(sorted_mean(values), sorted_mean(other));
  EXPECT_EQ(mean(std::vector<double>{1, 2, 6}), 3);
}

TEST(Statistics, PercentileInterpolatesAsNumpyDoes) {
  EXPECT_EQ(percentile({4, 1, 3, 2}, 0), 1);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 1), 4);
  EXPECT_DOUBLE_EQ(percentile({10, 20}, 0.25), 12.5);
}

TEST(Statistics, NoValuesHaveNoStatistic) {
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_TRUE(std::isnan(upper_median({})));
  EXPECT_TRUE(std::isnan(weighted_median({})));
  EXPECT_TRUE(std::isnan(mean({})));
  EXPECT_TRUE(std::isnan(sorted_mean({})));
  EXPECT_TRUE(std::isnan(percentile({}, 0.5)));
}

}  // namespace
}  // namespace rubato
