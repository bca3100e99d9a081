// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput/throughput.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace rubato {
namespace {

const ProfileName kResnet{"lab", "resnet50"};
const ProfileName kBert{"lab", "bert"};
const ProfileName kNew{"lab", "new"};

TypeSpeeds speeds() { return TypeSpeeds({{"fast", 4.0}, {"mid", 2.0}, {"slow", 1.0}}); }

RateCell cell(const ProfileName& profile, const char* type, int gpus, double rate,
              std::int64_t samples = 20) {
  return {.profile = profile, .gpu_type = type, .gpus = gpus, .rate = rate, .samples = samples};
}

double ratio(const ThroughputModel& model, const ProfileName& profile, const char* a,
             const char* b) {
  return std::exp(model.ratio(profile, {a, 1}, {b, 1}).log_rate);
}

TEST(Throughput, WithoutMeasurementsTheConfiguredSpeedsDecide) {
  const ThroughputModel model(speeds());
  EXPECT_NEAR(ratio(model, kNew, "fast", "slow"), 4.0, 1e-9);
  EXPECT_FALSE(model.predict(kNew, "fast", 1).known_profile);
  // Doubling the GPUs: 2^0.85.
  EXPECT_NEAR(model.ratio(kNew, {"fast", 8}, {"fast", 4}).log_rate, 0.85 * std::log(2.0), 1e-9);
}

TEST(Throughput, AMeasuredCellIsBelievedMoreThanThePrior) {
  const ThroughputModel model(speeds(), {cell(kResnet, "slow", 4, 800)});
  const Forecast there = model.predict(kResnet, "slow", 4);
  EXPECT_NEAR(there.rate(), 800, 8);
  EXPECT_EQ(there.samples, 20);
  EXPECT_TRUE(there.known_profile);
  const Forecast elsewhere = model.predict(kResnet, "fast", 4);
  EXPECT_NEAR(elsewhere.rate(), 3200, 50) << "from the configured ratio";
  EXPECT_EQ(elsewhere.samples, 0);
  EXPECT_GT(elsewhere.spread, 3 * there.spread) << "and less sure";
}

TEST(Throughput, ContradictoryReportsGiveNoWildExtrapolation) {
  // A million times the rate on twice the GPUs: no exponent that a job can have.
  const ThroughputModel model(speeds(), {cell(kResnet, "slow", 1, 1), cell(kResnet, "slow", 2, 1e6),
                                         cell(kBert, "slow", 1, 100), cell(kBert, "slow", 2, 180)});
  EXPECT_NEAR(std::log(model.predict(kResnet, "slow", 2).rate() / 1e6), 0, 1);
  EXPECT_LT(model.predict(kResnet, "slow", 512).rate(), 1e6 * 256 * 10);
  EXPECT_GT(model.ratio(kResnet, {"slow", 512}, {"slow", 2}).log_rate, 0);
  EXPECT_LT(model.ratio(kResnet, {"slow", 512}, {"slow", 2}).log_rate, 1.1 * std::log(256) + 1.51);
  EXPECT_NEAR(
      model.ratio(kResnet, {"slow", 512}, {"slow", 2}).log_rate,
      model.predict(kResnet, "slow", 512).log_rate - model.predict(kResnet, "slow", 2).log_rate,
      1e-9);
  // Job types that share a common exponent with it.
  EXPECT_LT(model.predict(kBert, "slow", 64).rate(), 180 * 32 * 20);
  EXPECT_LT(model.predict(kNew, "slow", 64).rate() / model.predict(kNew, "slow", 1).rate(),
            64 * 10);
  // And the other way round.
  const ThroughputModel falling(speeds(),
                                {cell(kResnet, "slow", 4, 1e6), cell(kResnet, "slow", 8, 1)});
  EXPECT_GT(falling.predict(kResnet, "slow", 64).rate(), 1 / 8.0 / 10);
  EXPECT_LT(falling.predict(kResnet, "slow", 1).rate(), 1e6 * 4 * 10);
}

TEST(Throughput, SaneReportsAreExtrapolatedAsTheySay) {
  // Linear, and a type that was measured at another size alone: nothing is held back.
  const ThroughputModel model(speeds(),
                              {cell(kResnet, "slow", 1, 100), cell(kResnet, "slow", 2, 200),
                               cell(kResnet, "slow", 4, 400), cell(kResnet, "fast", 1, 400)});
  const double up = model.ratio(kResnet, {"slow", 16}, {"slow", 4}).log_rate;
  EXPECT_GT(up, 0.85 * std::log(4));
  EXPECT_LT(up, 1.02 * std::log(4));
  EXPECT_NEAR(model.ratio(kResnet, {"fast", 16}, {"fast", 4}).log_rate, up, 0.05);
}

TEST(Throughput, AJobTypeCanBeFasterOnTheSlowType) {
  const ThroughputModel model(speeds(),
                              {cell(kResnet, "slow", 1, 300), cell(kResnet, "fast", 1, 100),
                               cell(kBert, "slow", 1, 10), cell(kBert, "fast", 1, 42)});
  EXPECT_LT(ratio(model, kResnet, "fast", "slow"), 0.4);
  EXPECT_GT(ratio(model, kBert, "fast", "slow"), 3.5);
}

TEST(Throughput, WrongConfiguredSpeedsAreUnlearntFromOtherJobTypes) {
  const TypeSpeeds wrong({{"fast", 1.0}, {"slow", 4.0}});
  std::vector<RateCell> cells;
  for (const char* name : {"a", "b", "c", "d"}) {
    cells.push_back(cell({"lab", name}, "fast", 1, 400));
    cells.push_back(cell({"lab", name}, "slow", 1, 100));
  }
  EXPECT_LT(ratio(ThroughputModel(wrong), kNew, "fast", "slow"), 0.3);
  EXPECT_GT(ratio(ThroughputModel(wrong, cells), kNew, "fast", "slow"), 2.0)
      << "a job type that nobody measured";
}

TEST(Throughput, AccountsDoNotShareProfiles) {
  const ThroughputModel model(speeds(), {cell(kResnet, "slow", 1, 300)});
  EXPECT_FALSE(model.predict({"other", "resnet50"}, "slow", 1).known_profile);
}

TEST(Throughput, MoreReportsMakeSurer) {
  const auto spread = [](std::int64_t samples) {
    return ThroughputModel(speeds(), {cell(kResnet, "mid", 2, 50, samples)})
        .predict(kResnet, "mid", 2)
        .spread;
  };
  EXPECT_GT(spread(1), spread(4));
  EXPECT_GT(spread(4), spread(100));
}

TEST(Throughput, WhatNoJobCanHaveMeasuredIsLeftOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const ThroughputModel model(speeds(),
                              {cell(kResnet, "mid", 1, nan), cell(kResnet, "mid", 1, inf),
                               cell(kResnet, "mid", 0, 5), cell(kResnet, "mid", 1, 5, 0)});
  EXPECT_TRUE(model.cells().empty());
  EXPECT_FALSE(model.predict(kResnet, "mid", 1).known_profile);
}

std::vector<RateCell> random_cells(std::mt19937& random, int count) {
  std::vector<RateCell> cells;
  const char* types[] = {"fast", "mid", "slow", "odd"};
  for (int i = 0; i < count; ++i) {
    cells.push_back(
        cell({"acc" + std::to_string(random() % 3), "type" + std::to_string(random() % 5)},
             types[random() % 4], 1 << (random() % 5),
             std::exp(static_cast<double>(random() % 4000) / 100 - 20),
             1 + static_cast<std::int64_t>(random() % 1000000)));
  }
  return cells;
}

TEST(Throughput, ForecastsAreFiniteAndDoNotDependOnTheOrder) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<RateCell> cells = random_cells(random, 60);
    const ThroughputModel model(speeds(), cells);
    std::shuffle(cells.begin(), cells.end(), random);
    const ThroughputModel again(speeds(), cells);
    for (const RateCell& at : random_cells(random, 20)) {
      const Forecast one = model.predict(at.profile, at.gpu_type, at.gpus);
      const Forecast two = again.predict(at.profile, at.gpu_type, at.gpus);
      ASSERT_TRUE(std::isfinite(one.log_rate) && std::isfinite(one.spread));
      EXPECT_GE(one.spread, 0);
      EXPECT_EQ(one.log_rate, two.log_rate);
      EXPECT_EQ(one.spread, two.spread);
      const Forecast none = model.ratio(at.profile, {at.gpu_type, at.gpus}, {at.gpu_type, at.gpus});
      EXPECT_EQ(none.log_rate, 0);
      EXPECT_EQ(none.spread, 0);
    }
  }
}

TEST(Throughput, AnUntoldBatchIsTheUsualOneOfThatSize) {
  // A script with 64 samples a GPU: at each size a forecast is what was measured there.
  std::vector<RateCell> cells;
  for (const auto& [gpus, rate] : {std::pair(1, 100.0), {2, 190.0}, {4, 360.0}}) {
    cells.push_back(cell(kResnet, "slow", gpus, rate, 40));
    cells.back().batch = 64 * gpus;
  }
  const ThroughputModel grows(speeds(), cells);
  for (const RateCell& one : cells)
    EXPECT_NEAR(grows.predict(kResnet, "slow", one.gpus).rate(), one.rate, 0.02 * one.rate);
  EXPECT_GT(grows.predict(kResnet, "slow", 8).rate(), 1.5 * 360) << "at 64 samples a GPU";
  // One global batch at all sizes goes on as that.
  for (RateCell& one : cells) one.batch = 256;
  const ThroughputModel fixed(speeds(), cells);
  EXPECT_EQ(fixed.predict(kResnet, "slow", 8).log_rate,
            fixed.predict(kResnet, {.gpu_type = "slow", .gpus = 8, .batch = 256}).log_rate);
  // Where one size is known it may be either: as much a GPU, at which 2^0.85 is expected.
  const ThroughputModel one(speeds(), {cells.front()});
  EXPECT_NEAR(one.predict(kResnet, "slow", 2).log_rate - one.predict(kResnet, "slow", 1).log_rate,
              0.85 * std::log(2.0), 0.01);
}

TEST(Throughput, TooManyCellsLeaveThoseWithMostReports) {
  std::vector<RateCell> cells;
  for (int i = 0; i < 1100; ++i) {
    cells.push_back(cell({"lab", "t" + std::to_string(i)}, "mid", 1, 10, 1 + i));
  }
  const ThroughputModel model(speeds(), cells);
  EXPECT_EQ(model.cells().size(), ThroughputModel::kMostCells);
  EXPECT_FALSE(model.predict({"lab", "t0"}, "mid", 1).known_profile);
  EXPECT_TRUE(model.predict({"lab", "t1099"}, "mid", 1).known_profile);
}

}  // namespace
}  // namespace rubato
