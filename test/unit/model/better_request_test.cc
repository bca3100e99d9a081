// SPDX-License-Identifier: GPL-2.0-or-later
// What a job of a profile had better requested.
#include "lib/model/throughput/better_request.h"

#include <gtest/gtest.h>

namespace rubato {
namespace {

const ProfileName kProfile{"lab", "bert"};

struct Measured {
  const char* type;
  int gpus;
  double throughput;
};

ThroughputModel model_of(const std::vector<Measured>& measured, int jobs = 4) {
  std::vector<ThroughputObservation> observations;
  for (const Measured& one : measured) {
    ThroughputObservation observation{kProfile, one.type, one.gpus, one.throughput, 400};
    observation.jobs = observation.profile_jobs = jobs;
    observations.push_back(observation);
  }
  return ThroughputModel(TypeSpeeds({{"a100", 1.0}, {"h100", 2.0}}), std::move(observations));
}

TEST(BetterRequest, IsFewerGpusWhereMoreBringNothing) {
  const ThroughputModel model = model_of({{"a100", 1, 99}, {"a100", 2, 100}, {"a100", 4, 101}});
  const auto better = better_request(model, kProfile, "a100", 4);
  ASSERT_TRUE(better);
  EXPECT_EQ(better->gpus, 1);
  EXPECT_EQ(better->gpu_type, "a100");
  EXPECT_NEAR(better->ratio, 0.98, 0.03);
  EXPECT_LE(better->low, better->ratio);
  EXPECT_GE(better->high, better->ratio);
}

TEST(BetterRequest, IsAFasterTypeWithAsManyGpus) {
  const ThroughputModel model = model_of({{"a100", 2, 100}, {"h100", 2, 210}});
  const auto better = better_request(model, kProfile, "a100", 2);
  ASSERT_TRUE(better);
  EXPECT_EQ(better->gpu_type, "h100");
  EXPECT_EQ(better->gpus, 2);
  EXPECT_FALSE(better_request(model, kProfile, "h100", 2)) << "a100 is slower";
}

TEST(BetterRequest, IsMoreGpusWhereEachIsAsFast) {
  const ThroughputModel model = model_of({{"a100", 1, 100}, {"a100", 2, 199}});
  const auto better = better_request(model, kProfile, "a100", 1);
  ASSERT_TRUE(better);
  EXPECT_EQ(better->gpus, 2);
}

TEST(BetterRequest, IsNoneWhereTheModelIsNotSure) {
  const ThroughputModel model = model_of({{"a100", 2, 100}});
  EXPECT_FALSE(better_request(model, kProfile, "a100", 2)) << "nothing else was measured";
  EXPECT_FALSE(better_request(model, kProfile, "h100", 2)) << "h100 was not measured";
  EXPECT_FALSE(better_request(model, {"lab", "other"}, "a100", 2)) << "an unknown job type";
  EXPECT_FALSE(better_request(model, kProfile, "", 0)) << "a job without GPUs";
}

TEST(BetterRequest, IsNoneWhereASingleJobMeasured) {
  const ThroughputModel model = model_of({{"a100", 2, 100}, {"h100", 2, 210}}, 1);
  EXPECT_FALSE(better_request(model, kProfile, "a100", 2));
}

TEST(BetterRequest, IsNoneForAGainThatMayBeNoise) {
  const ThroughputModel model = model_of({{"a100", 2, 100}, {"h100", 2, 108}});
  EXPECT_FALSE(better_request(model, kProfile, "a100", 2));
}

}  // namespace
}  // namespace rubato
