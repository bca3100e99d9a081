// SPDX-License-Identifier: GPL-2.0-or-later
// What changes of running jobs cost, by the reports around them.
#include "lib/policy/algorithms/change_costs.h"

#include <gtest/gtest.h>

#include "lib/json/json.h"
#include "lib/policy/asked_resize.h"
#include "lib/policy/memory.h"
#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::add_consenting;
using test::kNow;
using test::make_cluster;
using test::share_of;

// Its last report, at kNow - 100, was of 10'000 samples at 10 samples/s.
AskedResize restarted(const Job& job) {
  AskedResize change;
  change.job = job.key;
  change.step = ResizeStep::kDone;
  change.from = change.gpus = 8;
  change.reported = kNow - 100;
  change.samples = 10'000;
  change.throughput = 10;
  change.asked = kNow - 90;
  change.requeued = kNow - 60;
  change.since = kNow - 40;
  return change;
}

// The job runs again since kNow - 40.
Job again(Job job) {
  job.key.submit = kNow - 60;
  job.restarts = 1;
  job.start = kNow - 40;
  return job;
}

Progress report(const Job& job, Seconds time, std::int64_t samples, double throughput) {
  Progress progress;
  progress.job = job.key;
  progress.restarts = job.restarts;
  progress.time = time;
  progress.samples = samples;
  progress.throughput = throughput;
  return progress;
}

class ChangeCostsTest : public ::testing::Test {
 protected:
  ChangeCostsTest() {
    job_ = add_consenting(snapshot_);
    job_.account = "research";
    job_.hints->job_type = "resnet50";
  }
  double cost(const AskedResize& change, const Job& job, const Progress& after) {
    const auto shown = cost_shown(change, job, &after);
    return shown ? *shown : -1;
  }

  Snapshot snapshot_ = make_cluster({{"a100", 8}});
  Job job_;
};

// 100 s passed between the reports; 500 samples take 50 s.
TEST_F(ChangeCostsTest, ARestartCostsTheTimeWithoutSamples) {
  const Job job = again(job_);
  EXPECT_DOUBLE_EQ(cost(restarted(job_), job, report(job, kNow, 10'500, 10)), 50);
}

// 20 s of them it waited, as any other job.
TEST_F(ChangeCostsTest, TheTimeInTheQueueIsNoCostOfAStop) {
  const Job job = again(job_);
  AskedResize stop = restarted(job_);
  stop.gpus = 0;
  EXPECT_DOUBLE_EQ(cost(stop, job, report(job, kNow, 10'500, 10)), 30);
}

// It could do 400 samples until the requeue, the other 100 took 5 s.
TEST_F(ChangeCostsTest, SamplesCountAtTheSpeedOfTheirRun) {
  const Job job = again(job_);
  EXPECT_DOUBLE_EQ(cost(restarted(job_), job, report(job, kNow, 10'500, 20)), 55);
}

// It went back to a checkpoint from before its last report: these samples are done twice.
TEST_F(ChangeCostsTest, WhatARestartLosesIsInItsCost) {
  const Job job = again(job_);
  EXPECT_DOUBLE_EQ(cost(restarted(job_), job, report(job, kNow, 9'000, 10)), 200);
  EXPECT_DOUBLE_EQ(cost(restarted(job_), job, report(job, kNow, 100'000, 10)), 0);
  AskedResize anew = restarted(job_);
  anew.samples = 10'000'000;
  EXPECT_DOUBLE_EQ(cost(anew, job, report(job, kNow, 0, 10)), kMaxChangeCost);
}

TEST_F(ChangeCostsTest, AChangeWhileTheJobRunsHasNoTimeInTheQueue) {
  AskedResize change = restarted(job_);
  change.live = true;
  change.requeued = 0;
  EXPECT_DOUBLE_EQ(cost(change, job_, report(job_, kNow, 10'800, 5)), 0);
  EXPECT_DOUBLE_EQ(cost(change, job_, report(job_, kNow, 10'650, 5)), 30);
  EXPECT_EQ(cost(change, job_, report(job_, change.since, 10'600, 10)), -1) << "before the change";
}

TEST_F(ChangeCostsTest, OnlyAReportOfTheNextRunShowsTheCost) {
  const Job job = again(job_);
  const AskedResize change = restarted(job_);
  EXPECT_FALSE(cost_shown(change, job, nullptr));
  EXPECT_EQ(cost(change, job, report(job, job.start, 10'500, 10)), -1);
  EXPECT_EQ(cost(change, job, report(job_, kNow, 10'500, 10)), -1) << "of the run before";
  EXPECT_EQ(cost(change, job, report(job, kNow, 10'500, 0)), -1) << "without a speed";
  Job twice = job;
  twice.restarts = 2;
  EXPECT_EQ(cost(change, twice, report(twice, kNow, 10'500, 10)), -1) << "requeued again";
  Job waits = job;
  waits.state = JobState::kPending;
  EXPECT_EQ(cost(change, waits, report(job, kNow, 10'500, 10)), -1);
}

TEST_F(ChangeCostsTest, TheReportBeforeAChangeIsOfTheRunThatItEnds) {
  const auto noted = [&](const Progress& progress) {
    AskedResize change;
    note_progress(change, &progress);
    return change.reported;
  };
  EXPECT_EQ(noted(report(job_, kNow - 5, 100, 10)), kNow - 5);
  EXPECT_EQ(noted(report(job_, kNow - 5, 100, 0)), 0);
  EXPECT_EQ(noted(report(again(job_), kNow - 5, 100, 10)), 0);
  AskedResize change;
  note_progress(change, nullptr);
  EXPECT_EQ(change, AskedResize{});
  EXPECT_FALSE(awaits_cost(restarted(job_), kNow - 40 + kCostKeep));
  EXPECT_TRUE(awaits_cost(restarted(job_), kNow - 41 + kCostKeep));
  change = restarted(job_);
  change.reported = 0;
  EXPECT_FALSE(awaits_cost(change, kNow));
}

TEST_F(ChangeCostsTest, MeansAreKeptByTypeAndByKind) {
  std::vector<ProfileCosts> costs;
  fold_cost({"research", "resnet50"}, false, 30, kNow, costs);
  fold_cost({"research", "resnet50"}, false, 60, kNow + 1, costs);
  fold_cost({"research", "resnet50"}, true, 5, kNow + 2, costs);
  fold_cost({"", "bert"}, true, 7, kNow, costs);
  fold_cost({"research", ""}, true, 7, kNow, costs);
  ASSERT_EQ(costs.size(), 2U);
  EXPECT_EQ(costs[0].job_type, "bert");
  EXPECT_EQ(costs[1], (ProfileCosts{"research", "resnet50", kNow + 2, 45, 2, 5, 1}));
  for (int i = 0; i < 100; ++i) fold_cost({"", "bert"}, true, 20, kNow, costs);
  EXPECT_NEAR(costs[0].resize, 20, .1) << "the last ones count more";
}

TEST_F(ChangeCostsTest, TheTypeNotMeasuredForTheLongestIsDropped) {
  std::vector<ProfileCosts> costs;
  const auto type = [](std::size_t i) { return "t" + std::to_string(1000 + i); };
  for (std::size_t i = 0; i < kMaxCostProfiles; ++i)
    fold_cost({"", type(i)}, false, 30, kNow + static_cast<Seconds>(i), costs);
  fold_cost({"", type(0)}, false, 30, kNow + 5000, costs);
  fold_cost({"", "new"}, false, 30, kNow + 5001, costs);
  ASSERT_EQ(costs.size(), kMaxCostProfiles);
  EXPECT_EQ(costs[0].job_type, "new");
  EXPECT_EQ(costs[1].job_type, type(0));
  EXPECT_EQ(costs[2].job_type, type(2));
}

TEST_F(ChangeCostsTest, MeasuredCostsReplaceTheConfigured) {
  Config config;
  config.restart_cost = 60;
  config.resize_cost = 20;
  const auto filled = [&](const ProfileCosts& known, Resize resize) {
    Snapshot snapshot = snapshot_;
    snapshot.jobs[0].account = "research";
    snapshot.jobs[0].hints->job_type = "resnet50";
    snapshot.jobs[0].hints->resize = resize;
    snapshot.memory.change_costs = {known};
    fill_change_costs(snapshot, config);
    return snapshot.jobs[0].costs;
  };
  ProfileCosts known{"research", "resnet50", kNow, 40, 2, 5, 1};
  EXPECT_EQ(filled(known, Resize::kRestart), (ChangeCosts{40, 40, 40}));
  EXPECT_EQ(filled(known, Resize::kLive), (ChangeCosts{40, 40, 5}));
  known.restart = 90;
  EXPECT_EQ(filled(known, Resize::kLive), (ChangeCosts{60, 90, 5}));
  known.resizes = 0;
  EXPECT_EQ(filled(known, Resize::kLive), (ChangeCosts{60, 90, 20}));
  known.restart = 10;
  EXPECT_EQ(filled(known, Resize::kLive), (ChangeCosts{10, 10, 10})) << "no more than a restart";
  known.restarts = 0;
  EXPECT_EQ(filled(known, Resize::kLive), (ChangeCosts{60, 60, 20}));
  EXPECT_EQ(filled(known, Resize::kRestart), (ChangeCosts{60, 60, 60}));
  known.restarts = 1;
  known.account = "other";
  EXPECT_EQ(filled(known, Resize::kLive), (ChangeCosts{60, 60, 20}));
  known.account = "research";
  known.updated = kNow - kCostLife;  // a bad cost would last, since no change measured another
  EXPECT_EQ(filled(known, Resize::kLive), (ChangeCosts{60, 60, 20}));
}

// From the signal to the report of the next run, as the loop calls it.
TEST_F(ChangeCostsTest, ARestartIsMeasuredOnceItsJobReports) {
  Memory memory;
  fold_report(report(job_, kNow - 100, 10'000, 10), memory);
  AskedResize change = restarted(job_);
  change.reported = change.samples = 0;
  change.throughput = 0;
  keep_resize(memory, change);
  EXPECT_EQ(memory.asked_resizes.at(0).reported, kNow - 100);
  Snapshot later = make_cluster({{"a100", 8}});
  later.jobs = {again(job_)};
  EXPECT_TRUE(measure_changes(memory, later, Config()).empty());
  fold_report(report(later.jobs[0], kNow, 10'500, 10), memory);
  const auto measured = measure_changes(memory, later, Config());
  ASSERT_EQ(measured.size(), 1U);
  EXPECT_EQ(measured[0].cost, 50);
  EXPECT_EQ(memory.asked_resizes, measured);
  ASSERT_EQ(memory.change_costs.size(), 1U);
  EXPECT_EQ(memory.change_costs[0], (ProfileCosts{"research", "resnet50", kNow, 50, 1, 0, 0}));
  EXPECT_TRUE(measure_changes(memory, later, Config()).empty()) << "once";
  later.memory = memory;
  const auto back = snapshot_from_json(to_json(later));
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(back->memory, memory);
}

TEST_F(ChangeCostsTest, AChangeStaysInMemoryUntilItsCostIsMeasured) {
  Memory memory;
  memory.asked_resizes = {restarted(job_)};
  Snapshot later = make_cluster({{"a100", 8}});
  later.taken = kNow - 40 + kResizeKeep;
  (void)follow_resizes(memory, later);
  EXPECT_EQ(memory.asked_resizes.size(), 1U);
  later.taken = kNow - 40 + kCostKeep;
  (void)follow_resizes(memory, later);
  EXPECT_TRUE(memory.asked_resizes.empty());
  memory.asked_resizes = {restarted(job_)};
  memory.asked_resizes[0].measured = true;
  later.taken = kNow - 40 + kResizeKeep;
  (void)follow_resizes(memory, later);
  EXPECT_TRUE(memory.asked_resizes.empty());
}

}  // namespace
}  // namespace rubato
