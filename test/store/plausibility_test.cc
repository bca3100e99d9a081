// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/plausibility.h"

#include <gtest/gtest.h>

#include <limits>

#include "test/store/store_support.h"

namespace rubato::store {
namespace {

using test::kNow;
using test::sample_of_job;

/// Judges and adds a sample, as a session does.
Flag take(Plausibility& judge, Sample sample) {
  sample.flag = judge.judge(sample);
  judge.remember(sample);
  return sample.flag;
}

/// The first report of a job that measures `throughput`.
Sample first_at(JobId job, double throughput) {
  Sample sample = sample_of_job(job);
  sample.run_start = 0;
  sample.throughput = throughput;
  return sample;
}

TEST(Plausibility, SteadyJobIsNeverFlagged) {
  Plausibility judge;
  for (int i = 0; i < 50; ++i) EXPECT_EQ(take(judge, sample_of_job(1, i)), Flag::kNone) << i;
}

TEST(Plausibility, FewerSamplesDoneIsNotMonotone) {
  Plausibility judge;
  EXPECT_EQ(take(judge, sample_of_job(1, 0)), Flag::kNone);
  Sample less = sample_of_job(1, 1);
  less.samples_done = sample_of_job(1, 0).samples_done - 1;
  EXPECT_EQ(take(judge, less), Flag::kNotMonotone);
}

TEST(Plausibility, EarlierTimeIsNotMonotone) {
  Plausibility judge;
  EXPECT_EQ(take(judge, sample_of_job(1, 3)), Flag::kNone);
  Sample early = sample_of_job(1, 3);
  early.time -= 1;
  EXPECT_EQ(take(judge, early), Flag::kNotMonotone);
}

TEST(Plausibility, RestartFromCheckpointMayFallBack) {
  Plausibility judge;
  EXPECT_EQ(take(judge, sample_of_job(1, 5)), Flag::kNone);
  Sample resumed = sample_of_job(1, 6);
  resumed.restarts = 1;
  resumed.samples_done = 20000;
  EXPECT_EQ(take(judge, resumed), Flag::kNone);
  Sample late = sample_of_job(1, 7);  // from the run that is over
  EXPECT_EQ(take(judge, late), Flag::kNotMonotone);
}

TEST(Plausibility, RateAboveWhatTheCountsGiveDisagreesWithWallTime) {
  Plausibility judge;
  EXPECT_EQ(take(judge, sample_of_job(1, 0)), Flag::kNone);
  Sample boast = sample_of_job(1, 1);
  boast.throughput = 200;  // 6000 samples in 60 s are 100/s
  EXPECT_EQ(take(judge, boast), Flag::kWallTime);
}

TEST(Plausibility, RateBelowWhatTheCountsGiveDisagreesWithWallTime) {
  Plausibility judge;
  EXPECT_EQ(take(judge, sample_of_job(1, 0)), Flag::kNone);
  Sample modest = sample_of_job(1, 1);
  modest.throughput = 60;
  EXPECT_EQ(take(judge, modest), Flag::kWallTime);
}

TEST(Plausibility, WallTimeAllowsHalfAsMuchAndTheGrainOfCounting) {
  Plausibility judge;
  EXPECT_EQ(take(judge, sample_of_job(1, 0)), Flag::kNone);
  Sample near = sample_of_job(1, 1);
  near.throughput = 145;
  EXPECT_EQ(take(judge, near), Flag::kNone);
  // One batch of 256 in two seconds, or none yet: both are consistent with 100/s at this
  // resolution.
  Sample soon = near;
  soon.time += 2;
  EXPECT_EQ(take(judge, soon), Flag::kNone);
}

TEST(Plausibility, FirstReportMustFitIntoTheRun) {
  Plausibility judge;
  Sample sample = sample_of_job(1);  // 60 s at 100/s
  sample.samples_done = 9000;        // at most 61 s x 100/s x 1.5 = 9150
  EXPECT_EQ(take(judge, sample), Flag::kNone);
  Sample other = sample_of_job(2);
  other.samples_done = 9200;
  EXPECT_EQ(take(judge, other), Flag::kWallTime);
  Sample slow_start = sample_of_job(3);  // most of the time was set-up
  slow_start.samples_done = 10;
  EXPECT_EQ(take(judge, slow_start), Flag::kNone);
}

TEST(Plausibility, SpanWithAResizeIsNotComparedWithWallTime) {
  Plausibility judge;
  EXPECT_EQ(take(judge, sample_of_job(1, 0)), Flag::kNone);
  Sample grown = sample_of_job(1, 1);
  grown.gpus = 8;
  grown.throughput = 190;
  EXPECT_EQ(take(judge, grown), Flag::kNone);
}

TEST(Plausibility, MoreThanThreeTimesTheBestIsFlagged) {
  Plausibility judge;
  EXPECT_EQ(take(judge, first_at(1, 100)), Flag::kNone);
  EXPECT_EQ(take(judge, first_at(2, 300)), Flag::kNone);
  EXPECT_EQ(take(judge, first_at(3, 901)), Flag::kAboveBest);
  Sample other_kind = first_at(4, 901);
  other_kind.gpus = 8;
  EXPECT_EQ(take(judge, other_kind), Flag::kNone);
}

TEST(Plausibility, FlaggedReportDoesNotRaiseTheBest) {
  Plausibility judge;
  EXPECT_EQ(take(judge, first_at(1, 100)), Flag::kNone);
  EXPECT_EQ(take(judge, first_at(2, 310)), Flag::kAboveBest);
  EXPECT_EQ(take(judge, first_at(3, 900)), Flag::kAboveBest);
}

TEST(Plausibility, DiffersFromTwoOtherJobsIsFlagged) {
  Plausibility judge;
  EXPECT_EQ(take(judge, first_at(1, 100)), Flag::kNone);
  EXPECT_EQ(take(judge, first_at(2, 40)), Flag::kNone);           // one other job does not suffice
  EXPECT_EQ(take(judge, first_at(3, 110)), Flag::kUnlikeOthers);  // lower median of 40 and 100
  EXPECT_EQ(take(judge, first_at(4, 19)), Flag::kUnlikeOthers);
  EXPECT_EQ(take(judge, first_at(5, 79)), Flag::kNone);
}

TEST(Plausibility, OneBoasterDoesNotMakeHonestJobsLookSlow) {
  Plausibility judge;
  EXPECT_EQ(take(judge, first_at(1, 1e9)), Flag::kNone);
  EXPECT_EQ(take(judge, first_at(2, 100)), Flag::kNone);
  EXPECT_EQ(take(judge, first_at(3, 110)), Flag::kNone);
  EXPECT_EQ(take(judge, first_at(1, 1e9)), Flag::kUnlikeOthers);
}

TEST(Plausibility, AccountsAreJudgedApartUnlessShared) {
  Plausibility judge;
  EXPECT_EQ(take(judge, first_at(1, 100)), Flag::kNone);
  Sample other = first_at(2, 1000);
  other.type.account = "biology";
  EXPECT_EQ(take(judge, other), Flag::kNone);

  Plausibility sharing;
  Sample first = first_at(1, 100);
  first.type.shared = true;
  other.type.shared = true;
  EXPECT_EQ(take(sharing, first), Flag::kNone);
  EXPECT_EQ(take(sharing, other), Flag::kAboveBest);
}

TEST(Plausibility, OneWrongReportIsFlaggedOnce) {
  Plausibility judge;
  EXPECT_EQ(take(judge, sample_of_job(1, 0)), Flag::kNone);
  Sample wrong = sample_of_job(1, 1);
  wrong.samples_done = 10'000'000;
  EXPECT_EQ(take(judge, wrong), Flag::kWallTime);
  EXPECT_EQ(take(judge, sample_of_job(1, 2)), Flag::kNotMonotone);
  for (int i = 3; i < 8; ++i) EXPECT_EQ(take(judge, sample_of_job(1, i)), Flag::kNone) << i;
}

TEST(Records, WordsAreReadBack) {
  for (const Flag flag :
       {Flag::kNone, Flag::kNotMonotone, Flag::kWallTime, Flag::kAboveBest, Flag::kUnlikeOthers}) {
    EXPECT_EQ(flag_from(to_string(flag)), flag);
  }
  for (const JobClass job_class : {JobClass::kBestEffort, JobClass::kGuaranteed}) {
    EXPECT_EQ(job_class_from(to_string(job_class)), job_class);
  }
  EXPECT_EQ(flag_from("no such"), std::nullopt);
}

TEST(Records, WhatNobodyCanMeasureIsNotStorable) {
  EXPECT_TRUE(storable(sample_of_job(1)));
  const auto broken = [](auto change) {
    Sample sample = sample_of_job(1);
    change(sample);
    return !storable(sample);
  };
  EXPECT_TRUE(broken([](Sample& s) { s.throughput = -1; }));
  EXPECT_TRUE(broken([](Sample& s) { s.throughput = 2e15; }));
  EXPECT_TRUE(broken([](Sample& s) { s.throughput = std::numeric_limits<double>::quiet_NaN(); }));
  EXPECT_TRUE(broken([](Sample& s) { s.loss = std::numeric_limits<double>::infinity(); }));
  EXPECT_TRUE(broken([](Sample& s) { s.gpus = -1; }));
  EXPECT_TRUE(broken([](Sample& s) { s.samples_done = -1; }));
  EXPECT_TRUE(broken([](Sample& s) { s.type.name.assign(70000, 'x'); }));
  EXPECT_FALSE(storable(
      Fit{{}, "a100", "step-time", {1, std::numeric_limits<double>::quiet_NaN()}, 3, 0.1, kNow}));
  EXPECT_FALSE(storable(JobRecord{{1, 2}, {}, JobClass::kBestEffort, -1, 0, 0, 0, kNow}));
  EXPECT_FALSE(storable(Decision{{1, 2}, kNow, "start", std::string((1 << 20) + 1, 'x')}));
}

}  // namespace
}  // namespace rubato::store
