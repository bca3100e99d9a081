// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/data_parallel/goodput.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lib/validate/data_sia.h"
#include "test/support/shared_data.h"

namespace rubato {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Efficiency, FallsFromOneAsTheBatchOutgrowsTheNoise) {
  EXPECT_DOUBLE_EQ(*statistical_efficiency(900, 100, 100), 1);
  EXPECT_DOUBLE_EQ(*statistical_efficiency(900, 1100, 100), 0.5);
  EXPECT_DOUBLE_EQ(*statistical_efficiency(0, 400, 100), 0.25);
  EXPECT_NEAR(*statistical_efficiency(1e15, 4096, 128), 1, 1e-9);
}

TEST(Efficiency, HasNoAnswerToNonsense) {
  EXPECT_FALSE(statistical_efficiency(kNan, 1, 1));
  EXPECT_FALSE(statistical_efficiency(-1, 1, 1));
  EXPECT_FALSE(statistical_efficiency(kInfinity, 1, 1));
  EXPECT_FALSE(statistical_efficiency(1, 0, 1));
  EXPECT_FALSE(statistical_efficiency(1, 1, kNan));
}

TEST(NoiseScale, ComesFromGradientStatistics) {
  EXPECT_DOUBLE_EQ(*noise_scale(8, 2, 32), 128);
  EXPECT_EQ(*noise_scale(0, 2, 32), 0);
  EXPECT_EQ(*noise_scale(1, 0, 32), kMaxNoise);
  EXPECT_EQ(*noise_scale(1e300, 1e-300, 32), kMaxNoise);
  EXPECT_FALSE(noise_scale(-1, 2, 32));
  EXPECT_FALSE(noise_scale(1, 2, 0));
}

TEST(BelievedNoise, IsTheMedianOfTheLastReports) {
  EXPECT_FALSE(believed_noise({}));
  EXPECT_EQ(believed_noise(std::vector<double>{1, 2, 3, 100, 5}), 3);
  EXPECT_EQ(believed_noise(std::vector<double>{900, 900, 1, 2, 3, 100, 5}), 3);
  EXPECT_EQ(believed_noise(std::vector<double>{kNan, 4, -1, 6}), 5);
  EXPECT_FALSE(believed_noise(std::vector<double>{kNan, -1}));
}

// A few batches at a time lead to the same top as all of a small range.
TEST(BestGoodput, FewTriesFindTheSameBatch) {
  for (const double noise : {50.0, 1000.0, 50'000.0}) {
    for (const int gpus : {1, 4, 12}) {
      const IterationSeconds seconds = [gpus](double local_batch, int passes) {
        return passes * (0.01 + 0.001 * std::pow(local_batch, 1.1)) + 0.05 * std::log2(gpus + 1);
      };
      const BatchRange all{.least = 32, .most = 40'000};
      BatchRange few = all;
      few.tried = 12;
      int tries = 0;
      const IterationSeconds counted = [&](double local_batch, int passes) {
        ++tries;
        return seconds(local_batch, passes);
      };
      const auto exact = best_goodput(all, gpus, seconds, noise);
      const auto found = best_goodput(few, gpus, counted, noise);
      ASSERT_TRUE(exact && found);
      EXPECT_NEAR(found->value / exact->value, 1, 1e-6);
      EXPECT_LT(tries, 80);
    }
  }
  BatchRange wrong{.least = 32, .most = 4096};
  wrong.tried = 3;
  const IterationSeconds one = [](double, int) { return 1.0; };
  EXPECT_FALSE(best_goodput(wrong, 4, one, 50)) << "a grid of three would not get smaller";
}

TEST(BestGoodput, StopsGrowingTheBatchWhereItNoLongerCounts) {
  const IterationSeconds seconds = [](double local_batch, int passes) {
    return passes * (0.01 + 0.001 * local_batch) + 0.05;
  };
  const BatchRange range{.least = 32, .most = 4096};
  const auto quiet = best_goodput(range, 4, seconds, 50);
  const auto noisy = best_goodput(range, 4, seconds, 50000);
  ASSERT_TRUE(quiet);
  ASSERT_TRUE(noisy);
  EXPECT_LT(quiet->batch, 512);
  EXPECT_GT(noisy->batch, 2 * quiet->batch);
  EXPECT_LE(noisy->value, best_batch(range, 4, seconds)->value);
}

TEST(BestGoodput, IsOnlyForJobsThatReportNoiseAndGaveARange) {
  const IterationSeconds seconds = [](double, int) { return 1.0; };
  EXPECT_FALSE(best_goodput({.least = 32, .most = 4096}, 4, seconds, std::nullopt));
  EXPECT_FALSE(best_goodput({.least = 32, .most = 4096}, 4, seconds, kNan));
  EXPECT_FALSE(best_goodput({.least = 32, .most = 32}, 4, seconds, 100));
  EXPECT_TRUE(best_goodput({.least = 32, .most = 64}, 4, seconds, 100));
}

// The artifact's formula, ((var + sqr) / (var / scale + sqr)) / scale, over all measured epochs.
TEST(Efficiency, IsThatOfTheMeasuredTrainings) {
  const auto folder = test::shared_data("sia");
  if (!folder) GTEST_SKIP() << "no shared data";
  const auto data = read_sia(*folder);
  ASSERT_TRUE(data) << data.error().text;
  int epochs = 0;
  for (const SiaApp& app : data->apps) {
    ASSERT_FALSE(app.trainings.empty());
    const auto first = static_cast<double>(app.trainings.front().batch);
    for (const SiaTraining& training : app.trainings) {
      const auto batch = static_cast<double>(training.batch);
      const double scale = batch / first;
      for (const SiaEpoch& epoch : training.epochs) {
        const double var = epoch.grad_var;
        const double sqr = epoch.grad_sqr;
        if (!(var + sqr > 0)) continue;
        const double gain = (var + sqr) / (var / scale + sqr);
        const auto noise = noise_scale(var, sqr, first);
        ASSERT_TRUE(noise);
        const auto efficiency = statistical_efficiency(*noise, batch, first);
        ASSERT_TRUE(efficiency);
        EXPECT_NEAR(*efficiency, gain / scale, 1e-9);
        ++epochs;
      }
    }
  }
  EXPECT_GT(epochs, 1000);
}

}  // namespace
}  // namespace rubato
