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

ThroughputObservation observation(const ProfileName& profile, const char* type, int gpus,
                                  double throughput, std::int64_t samples = 20) {
  return {.profile = profile,
          .gpu_type = type,
          .gpus = gpus,
          .throughput = throughput,
          .samples = samples};
}

double ratio(const ThroughputModel& model, const ProfileName& profile, const char* a,
             const char* b) {
  return std::exp(model.ratio(profile, {a, 1}, {b, 1}).log_throughput);
}

TEST(Throughput, WithoutMeasurementsTheConfiguredSpeedsDecide) {
  const ThroughputModel model(speeds());
  EXPECT_NEAR(ratio(model, kNew, "fast", "slow"), 4.0, 1e-9);
  EXPECT_FALSE(model.predict(kNew, "fast", 1).known_profile);
  // Doubling the GPUs: 2^0.85.
  EXPECT_NEAR(model.ratio(kNew, {"fast", 8}, {"fast", 4}).log_throughput, 0.85 * std::log(2.0),
              1e-9);
}

TEST(Throughput, AMeasuredCellIsBelievedMoreThanThePrior) {
  const ThroughputModel model(speeds(), {observation(kResnet, "slow", 4, 800)});
  const Forecast there = model.predict(kResnet, "slow", 4);
  EXPECT_NEAR(there.throughput(), 800, 8);
  EXPECT_EQ(there.samples, 20);
  EXPECT_TRUE(there.known_profile);
  const Forecast elsewhere = model.predict(kResnet, "fast", 4);
  EXPECT_NEAR(elsewhere.throughput(), 3200, 50) << "from the configured ratio";
  EXPECT_EQ(elsewhere.samples, 0);
  EXPECT_GT(elsewhere.stddev, 3 * there.stddev) << "and less sure";
}

TEST(Throughput, ContradictoryReportsGiveNoWildExtrapolation) {
  // A million times the throughput on twice the GPUs: an impossible exponent.
  const ThroughputModel model(
      speeds(), {observation(kResnet, "slow", 1, 1), observation(kResnet, "slow", 2, 1e6),
                 observation(kBert, "slow", 1, 100), observation(kBert, "slow", 2, 180)});
  EXPECT_NEAR(std::log(model.predict(kResnet, "slow", 2).throughput() / 1e6), 0, 1);
  EXPECT_LT(model.predict(kResnet, "slow", 512).throughput(), 1e6 * 256 * 10);
  EXPECT_GT(model.ratio(kResnet, {"slow", 512}, {"slow", 2}).log_throughput, 0);
  EXPECT_LT(model.ratio(kResnet, {"slow", 512}, {"slow", 2}).log_throughput,
            1.1 * std::log(256) + 1.51);
  EXPECT_NEAR(model.ratio(kResnet, {"slow", 512}, {"slow", 2}).log_throughput,
              model.predict(kResnet, "slow", 512).log_throughput -
                  model.predict(kResnet, "slow", 2).log_throughput,
              1e-9);
  // Job types that share a common exponent with it.
  EXPECT_LT(model.predict(kBert, "slow", 64).throughput(), 180 * 32 * 20);
  EXPECT_LT(
      model.predict(kNew, "slow", 64).throughput() / model.predict(kNew, "slow", 1).throughput(),
      64 * 10);
  // The same for a decrease.
  const ThroughputModel falling(
      speeds(), {observation(kResnet, "slow", 4, 1e6), observation(kResnet, "slow", 8, 1)});
  EXPECT_GT(falling.predict(kResnet, "slow", 64).throughput(), 1 / 8.0 / 10);
  EXPECT_LT(falling.predict(kResnet, "slow", 1).throughput(), 1e6 * 4 * 10);
}

TEST(Throughput, SaneReportsAreExtrapolatedAsTheySay) {
  // Linear scaling, and a type measured only at another size: no correction applies.
  const ThroughputModel model(
      speeds(), {observation(kResnet, "slow", 1, 100), observation(kResnet, "slow", 2, 200),
                 observation(kResnet, "slow", 4, 400), observation(kResnet, "fast", 1, 400)});
  const double up = model.ratio(kResnet, {"slow", 16}, {"slow", 4}).log_throughput;
  EXPECT_GT(up, 0.85 * std::log(4));
  EXPECT_LT(up, 1.02 * std::log(4));
  EXPECT_NEAR(model.ratio(kResnet, {"fast", 16}, {"fast", 4}).log_throughput, up, 0.05);
}

TEST(Throughput, AJobTypeCanBeFasterOnTheSlowType) {
  const ThroughputModel model(
      speeds(), {observation(kResnet, "slow", 1, 300), observation(kResnet, "fast", 1, 100),
                 observation(kBert, "slow", 1, 10), observation(kBert, "fast", 1, 42)});
  EXPECT_LT(ratio(model, kResnet, "fast", "slow"), 0.4);
  EXPECT_GT(ratio(model, kBert, "fast", "slow"), 3.5);
}

TEST(Throughput, WrongConfiguredSpeedsAreUnlearntFromOtherJobTypes) {
  const TypeSpeeds wrong({{"fast", 1.0}, {"slow", 4.0}});
  std::vector<ThroughputObservation> observations;
  for (const char* name : {"a", "b", "c", "d"}) {
    observations.push_back(observation({"lab", name}, "fast", 1, 400));
    observations.push_back(observation({"lab", name}, "slow", 1, 100));
  }
  EXPECT_LT(ratio(ThroughputModel(wrong), kNew, "fast", "slow"), 0.3);
  EXPECT_GT(ratio(ThroughputModel(wrong, observations), kNew, "fast", "slow"), 2.0)
      << "a job type that nobody measured";
}

TEST(Throughput, AccountsDoNotShareProfiles) {
  const ThroughputModel model(speeds(), {observation(kResnet, "slow", 1, 300)});
  EXPECT_FALSE(model.predict({"other", "resnet50"}, "slow", 1).known_profile);
}

TEST(Throughput, MoreReportsMakeSurer) {
  const auto stddev = [](std::int64_t samples) {
    return ThroughputModel(speeds(), {observation(kResnet, "mid", 2, 50, samples)})
        .predict(kResnet, "mid", 2)
        .stddev;
  };
  EXPECT_GT(stddev(1), stddev(4));
  EXPECT_GT(stddev(4), stddev(100));
}

TEST(Throughput, WhatNoJobCanHaveMeasuredIsLeftOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const ThroughputModel model(
      speeds(), {observation(kResnet, "mid", 1, nan), observation(kResnet, "mid", 1, inf),
                 observation(kResnet, "mid", 0, 5), observation(kResnet, "mid", 1, 5, 0)});
  EXPECT_TRUE(model.observations().empty());
  EXPECT_FALSE(model.predict(kResnet, "mid", 1).known_profile);
}

std::vector<ThroughputObservation> random_observations(std::mt19937& random, int count) {
  std::vector<ThroughputObservation> observations;
  const char* types[] = {"fast", "mid", "slow", "odd"};
  for (int i = 0; i < count; ++i) {
    observations.push_back(
        observation({"acc" + std::to_string(random() % 3), "type" + std::to_string(random() % 5)},
                    types[random() % 4], 1 << (random() % 5),
                    std::exp(static_cast<double>(random() % 4000) / 100 - 20),
                    1 + static_cast<std::int64_t>(random() % 1000000)));
  }
  return observations;
}

TEST(Throughput, ForecastsAreFiniteAndDoNotDependOnTheOrder) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<ThroughputObservation> observations = random_observations(random, 60);
    const ThroughputModel model(speeds(), observations);
    std::shuffle(observations.begin(), observations.end(), random);
    const ThroughputModel again(speeds(), observations);
    for (const ThroughputObservation& at : random_observations(random, 20)) {
      const Forecast one = model.predict(at.profile, at.gpu_type, at.gpus);
      const Forecast two = again.predict(at.profile, at.gpu_type, at.gpus);
      ASSERT_TRUE(std::isfinite(one.log_throughput) && std::isfinite(one.stddev));
      EXPECT_GE(one.stddev, 0);
      EXPECT_EQ(one.log_throughput, two.log_throughput);
      EXPECT_EQ(one.stddev, two.stddev);
      const Forecast none = model.ratio(at.profile, {at.gpu_type, at.gpus}, {at.gpu_type, at.gpus});
      EXPECT_EQ(none.log_throughput, 0);
      EXPECT_EQ(none.stddev, 0);
    }
  }
}

TEST(Throughput, AnUntoldBatchIsTheUsualOneOfThatSize) {
  // A script with 64 samples per GPU: at each size the forecast is the measured value.
  std::vector<ThroughputObservation> observations;
  for (const auto& [gpus, throughput] : {std::pair(1, 100.0), {2, 190.0}, {4, 360.0}}) {
    observations.push_back(observation(kResnet, "slow", gpus, throughput, 40));
    observations.back().batch = 64 * gpus;
  }
  const ThroughputModel grows(speeds(), observations);
  for (const ThroughputObservation& one : observations)
    EXPECT_NEAR(grows.predict(kResnet, "slow", one.gpus).throughput(), one.throughput,
                0.02 * one.throughput);
  EXPECT_GT(grows.predict(kResnet, "slow", 8).throughput(), 1.5 * 360) << "at 64 samples a GPU";
  // With one global batch at all sizes, forecasts keep that batch.
  for (ThroughputObservation& one : observations) one.batch = 256;
  const ThroughputModel fixed(speeds(), observations);
  EXPECT_EQ(fixed.predict(kResnet, "slow", 8).log_throughput,
            fixed.predict(kResnet, {.gpu_type = "slow", .gpus = 8, .batch = 256}).log_throughput);
  // With one known size it could be either; the forecast keeps the batch per GPU, with 2^0.85.
  const ThroughputModel one(speeds(), {observations.front()});
  EXPECT_NEAR(one.predict(kResnet, "slow", 2).log_throughput -
                  one.predict(kResnet, "slow", 1).log_throughput,
              0.85 * std::log(2.0), 0.01);
}

TEST(Throughput, TooManyCellsLeaveThoseWithMostReports) {
  std::vector<ThroughputObservation> observations;
  for (int i = 0; i < 1100; ++i) {
    observations.push_back(observation({"lab", "t" + std::to_string(i)}, "mid", 1, 10, 1 + i));
  }
  const ThroughputModel model(speeds(), observations);
  EXPECT_EQ(model.observations().size(), ThroughputModel::kMaxObservations);
  EXPECT_EQ(model.dropped(), 76U) << "no two of one profile to merge";
  EXPECT_FALSE(model.predict({"lab", "t0"}, "mid", 1).known_profile);
  EXPECT_TRUE(model.predict({"lab", "t1099"}, "mid", 1).known_profile);
}

}  // namespace
}  // namespace rubato
