// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/data_parallel/data_parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/model/numeric/choose_rows.h"

namespace rubato {
namespace {

// A synthetic job: a pass of 20 ms plus 1 ms per sample, synchronisation of 10 ms in a node and 60
// ms across nodes, half of it overlapped.
double truth(const DataParallelConfiguration& at) {
  const double pass = 0.02 + 0.001 * at.local_batch;
  double sync = 0;
  if (at.gpus > 1) {
    sync = at.nodes > 1 ? 0.06 + 0.002 * (at.gpus - 2) : 0.01 + 0.001 * (at.gpus - 2);
  }
  return std::pow(std::pow(pass, 1.5) + std::pow(sync, 1.5), 1 / 1.5);
}

std::vector<DataParallelConfiguration> all_configurations() {
  std::vector<DataParallelConfiguration> configurations;
  for (const int nodes : {1, 2, 4}) {
    for (int gpus = nodes; gpus <= 4 * nodes; gpus += nodes) {
      for (const double batch : {8.0, 16.0, 32.0, 64.0, 128.0}) {
        configurations.push_back({batch, gpus, nodes});
      }
    }
  }
  return configurations;
}

std::vector<DataParallelSample> measure(
    const std::vector<DataParallelConfiguration>& configurations) {
  std::vector<DataParallelSample> samples;
  for (const DataParallelConfiguration& at : configurations) samples.push_back({at, truth(at), {}});
  return samples;
}

double mean_error(const DataParallelModel& model) {
  double sum = 0;
  for (const DataParallelConfiguration& at : all_configurations()) {
    sum += std::abs(model.iteration_seconds(at, 1) / truth(at) - 1);
  }
  return sum / static_cast<double>(all_configurations().size());
}

bool flagged(const DataParallelModel& model, DataParallelFlag flag) {
  return std::ranges::find(model.flags(), flag) != model.flags().end();
}

TEST(DataParallel, TenRowsOfItsOwnChoiceTellTheRest) {
  const std::vector<DataParallelConfiguration> configurations = all_configurations();
  std::vector<bool> taken(configurations.size());
  const auto chosen =
      choose_rows(configurations.size(), 10, [&](const std::vector<std::size_t>& so_far) {
        std::vector<DataParallelConfiguration> known;
        for (const std::size_t i : so_far) {
          known.push_back(configurations[i]);
          taken[i] = true;
        }
        return DataParallelModel(measure(known)).most_informative_row(configurations, taken);
      });
  ASSERT_EQ(chosen.size(), 10U);
  std::vector<DataParallelConfiguration> known;
  for (const std::size_t i : chosen) known.push_back(configurations[i]);
  const DataParallelModel model(measure(known));
  EXPECT_LT(mean_error(model), 0.04);
  EXPECT_TRUE(model.flags().empty());
  EXPECT_TRUE(std::ranges::any_of(known, [](const auto& at) { return at.nodes > 1; }));
  EXPECT_TRUE(std::ranges::any_of(known, [](const auto& at) { return at.nodes == 1; }));
}

TEST(DataParallel, AllRowsGiveTheFamilyBack) {
  const DataParallelModel model(measure(all_configurations()), {.correct = false});
  EXPECT_LT(mean_error(model), 0.01);
  EXPECT_NEAR(model.family().per_sample, 0.001, 0.0001);
  EXPECT_NEAR(model.family().fixed, 0.02, 0.002);
}

TEST(DataParallel, ThreeRowsGiveASaneFit) {
  const DataParallelModel model(measure({{16, 1, 1}, {64, 1, 1}, {32, 4, 1}}));
  EXPECT_EQ(model.configurations(), 3U);
  EXPECT_NEAR(model.iteration_seconds({32, 1, 1}, 1) / truth({32, 1, 1}), 1, 0.05);
  EXPECT_NEAR(model.iteration_seconds({64, 4, 1}, 1) / truth({64, 4, 1}), 1, 0.1);
  const auto far = model.step({32, 8, 2});
  ASSERT_TRUE(far);
  EXPECT_TRUE(far->extrapolated);
  EXPECT_GT(far->stddev, model.step({32, 4, 1})->stddev);
  EXPECT_GT(far->seconds, 0.5 * truth({32, 8, 2}));
  EXPECT_LT(far->seconds, 2 * truth({32, 8, 2}));
}

TEST(DataParallel, WhatWasMeasuredIsForecastAsMeasured) {
  // Far from any straight line: one batch takes twice the time that its neighbours suggest.
  std::vector<DataParallelSample> samples =
      measure({{8, 1, 1}, {32, 1, 1}, {128, 1, 1}, {32, 2, 1}});
  samples[1].step_time *= 1.3;
  samples[3].step_time *= 1.3;
  const DataParallelModel model(samples);
  EXPECT_NEAR(model.iteration_seconds({32, 1, 1}, 1) / samples[1].step_time, 1, 0.05);
  EXPECT_NEAR(model.iteration_seconds({32, 2, 1}, 1) / samples[3].step_time, 1, 0.05);
  // Straight lines alone would miss it.
  const DataParallelModel lines(samples, {.correct = false});
  EXPECT_GT(lines.error(), 2 * model.error());
}

TEST(DataParallel, OnlyTheLastPassSynchronises) {
  const DataParallelModel model(measure(all_configurations()));
  const DataParallelConfiguration at{32, 4, 2};
  const double one = model.iteration_seconds(at, 1);
  const double two = model.iteration_seconds(at, 2);
  const double pass = 0.02 + 0.001 * 32;
  EXPECT_NEAR(two - one, pass, 0.1 * pass);
  EXPECT_NEAR(model.iteration_seconds(at, 3) - two, two - one, 1e-9);
  EXPECT_EQ(model.iteration(at, 2)->seconds, two);
  EXPECT_FALSE(model.iteration(at, 0));
}

TEST(DataParallel, SynchronisationTimesTeachThePass) {
  // All on four GPUs: only the synchronisation times show how long a pass is.
  std::vector<DataParallelSample> samples;
  for (const double batch : {8.0, 32.0, 128.0}) {
    const DataParallelConfiguration at{batch, 4, 1};
    samples.push_back({at, truth(at), truth(at) - (0.02 + 0.001 * batch)});
  }
  const DataParallelModel with(samples);
  EXPECT_NEAR(with.iteration_seconds({32, 1, 1}, 1) / truth({32, 1, 1}), 1, 0.15);
  const double stddev_with = with.step({32, 1, 1})->stddev;
  for (DataParallelSample& s : samples) s.sync_time.reset();
  EXPECT_LT(stddev_with, DataParallelModel(samples).step({32, 1, 1})->stddev);
}

TEST(DataParallel, SynchronisationBesideTheStepIsNotUsed) {
  std::vector<DataParallelSample> samples = measure(all_configurations());
  const DataParallelModel without(samples);
  for (DataParallelSample& s : samples) s.sync_time = 3 * s.step_time;
  const DataParallelModel with(samples);
  EXPECT_TRUE(flagged(with, DataParallelFlag::kSyncOutside));
  EXPECT_EQ(with.iteration_seconds({32, 4, 2}, 1), without.iteration_seconds({32, 4, 2}, 1));
}

TEST(DataParallel, NothingUsableForecastsNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const DataParallelModel model(std::vector<DataParallelSample>{
      {{32, 1, 1}, nan}, {{32, 1, 1}, 0}, {{32, 1, 1}, -1}, {{-1, 1, 1}, 1}, {{8, 1, 2}, 1}});
  EXPECT_TRUE(model.empty());
  EXPECT_FALSE(model.step({32, 1, 1}));
  EXPECT_TRUE(std::isinf(model.iteration_seconds({32, 1, 1}, 1)));
  EXPECT_TRUE(flagged(model, DataParallelFlag::kDropped));
  EXPECT_TRUE(flagged(model, DataParallelFlag::kFewConfigurations));
  // It can still choose the first configuration.
  const std::vector<DataParallelConfiguration> configurations = all_configurations();
  EXPECT_TRUE(model.most_informative_row(configurations, std::vector<bool>(configurations.size())));
}

TEST(DataParallel, PlacesThatMakeNoSenseHaveNoForecast) {
  const DataParallelModel model(measure(all_configurations()));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const DataParallelConfiguration& at : std::vector<DataParallelConfiguration>{
           {nan, 1, 1}, {0, 1, 1}, {8, 0, 1}, {8, 1, 0}, {8, 2, 3}, {1e300, 1, 1}}) {
    EXPECT_FALSE(model.step(at)) << at.local_batch << ' ' << at.gpus << ' ' << at.nodes;
  }
}

TEST(DataParallel, ContradictionsAreFlaggedAndDoNotSpread) {
  std::vector<DataParallelSample> samples = measure(all_configurations());
  samples.push_back({{32, 1, 1}, 100 * truth({32, 1, 1})});
  EXPECT_TRUE(flagged(DataParallelModel(samples), DataParallelFlag::kContradictory));
  samples = measure(all_configurations());
  samples[7].step_time *= 50;  // one configuration, far from the others
  const DataParallelModel model(samples);
  EXPECT_TRUE(flagged(model, DataParallelFlag::kContradictory));
  const DataParallelConfiguration other{32, 8, 2};
  EXPECT_NEAR(model.iteration_seconds(other, 1) / truth(other), 1, 0.1);
}

TEST(DataParallel, FewOrEqualPlacesAreFlagged) {
  const DataParallelModel one(std::vector<DataParallelSample>(50, {{32, 2, 1}, 0.1}));
  EXPECT_EQ(one.configurations(), 1U);
  EXPECT_TRUE(flagged(one, DataParallelFlag::kFewConfigurations));
  EXPECT_TRUE(flagged(one, DataParallelFlag::kOneBatch));
  EXPECT_NEAR(one.iteration_seconds({32, 2, 1}, 1), 0.1, 0.01);
  for (const DataParallelFlag flag : one.flags()) EXPECT_NE(to_string(flag), "unknown");
}

TEST(DataParallel, ChoosesNoneOfWhatIsTaken) {
  const std::vector<DataParallelConfiguration> configurations = all_configurations();
  const DataParallelModel model(measure({configurations[0]}));
  std::vector<bool> taken(configurations.size(), true);
  EXPECT_FALSE(model.most_informative_row(configurations, taken));
  taken[3] = false;
  EXPECT_EQ(model.most_informative_row(configurations, taken), 3U);
  EXPECT_FALSE(model.most_informative_row(configurations, {}));
}

TEST(ChooseRow, TakesWhatExplainsMost) {
  // The second correlates with the third; the first is independent and has the largest variance.
  const std::vector<double> covariance{2, 0, 0, 0, 1.9, 1.9, 0, 1.9, 1.9};
  EXPECT_EQ(choose_row(covariance, 0.1, {false, false, false}), 1U);
  EXPECT_EQ(choose_row(covariance, 0.1, {false, true, true}), 0U);
  EXPECT_FALSE(choose_row(covariance, 0.1, {true, true, true}));
  EXPECT_FALSE(choose_row(covariance, 0.1, {false}));
}

TEST(ChooseRows, EndsWhenNothingMoreIsSaid) {
  const auto twice = [](const std::vector<std::size_t>&) { return std::optional<std::size_t>(1); };
  EXPECT_EQ(choose_rows(5, 3, twice), std::vector<std::size_t>{1});
  const auto count = [](const std::vector<std::size_t>& chosen) {
    return std::optional<std::size_t>(chosen.size());
  };
  EXPECT_EQ(choose_rows(5, 3, count), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(choose_rows(2, 3, count), (std::vector<std::size_t>{0, 1}));
}

}  // namespace
}  // namespace rubato
