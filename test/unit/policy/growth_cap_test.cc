// SPDX-License-Identifier: GPL-2.0-or-later
// Mode elastic: GrowthCap.
#include "lib/policy/algorithms/growth_cap.h"

#include <gtest/gtest.h>

#include "lib/config/options.h"
#include "lib/policy/round.h"
#include "test/support/growing_jobs.h"

namespace rubato {
namespace {

using test::growing_jobs;
using test::kNow;

Plan round_of(const Snapshot& snapshot, std::map<std::string, int> caps) {
  Config config = test::managing_all(Mode::kElastic);
  config.growth_caps = std::move(caps);
  config.test_off.insert(Mechanism::kClosing);  // short jobs go first
  return round(snapshot, test::growing_models(), config, kNow);
}

TEST(GrowthCap, AJobGrowsUpToTheCap) {
  for (const int cap : {0, 2, 3, 6, 100}) {
    const Plan plan = round_of(growing_jobs(1), {{"", cap}});
    if (cap == 0) {
      EXPECT_TRUE(plan.changes.empty());
      continue;
    }
    ASSERT_EQ(plan.changes.size(), 1U) << cap;
    EXPECT_LE(plan.changes[0].gpus, 2 + cap);
    EXPECT_GT(plan.changes[0].gpus, 2);
    if (cap >= 6) {
      EXPECT_EQ(plan.changes[0].gpus, 8);
    }
  }
}

TEST(GrowthCap, AJobThatWouldBeFasterNamesTheCap) {
  const Plan plan = round_of(growing_jobs(1), {{"", 0}});
  ASSERT_EQ(plan.stays.size(), 1U);
  const Stay& stay = plan.stays[0];
  EXPECT_EQ(stay.reason, StayReason::kCap);
  EXPECT_EQ(stay.rule, "GrowthCap");
  EXPECT_EQ(stay.gpus, 8);
  EXPECT_LT(stay.seconds_there, stay.seconds_left);
}

TEST(GrowthCap, CountsByQos) {
  Snapshot snapshot = growing_jobs(3);
  for (int i = 0; i < 3; ++i) snapshot.jobs[static_cast<std::size_t>(i)].qos = i == 0 ? "a" : "b";
  EXPECT_EQ(round_of(snapshot, {{"b", 0}}).changes.size(), 1U);
  EXPECT_EQ(round_of(snapshot, {{"a", 0}, {"b", 6}}).changes.size(), 1U);
  EXPECT_EQ(round_of(snapshot, {{"", 6}}).changes.size(), 2U) << "each QOS by itself";
  EXPECT_EQ(round_of(snapshot, {{"c", 0}}).changes.size(), 3U);
}

// The jobs that gain the most grow; all growth together stays within the cap.
TEST(GrowthCap, HoldsForAllJobsOfARoundTogether) {
  const Snapshot snapshot = growing_jobs(3);
  for (const int cap : {6, 8, 12, 17, 18}) {
    int beyond = 0;
    for (const Change& change : round_of(snapshot, {{"", cap}}).changes) beyond += change.gpus - 2;
    EXPECT_LE(beyond, cap);
    EXPECT_GE(beyond, cap - 5) << cap;
  }
  const Plan plan = round_of(snapshot, {{"", 6}});
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].job, snapshot.jobs[0].key);
}

TEST(GrowthCap, WhatOthersHoldCounts) {
  Snapshot snapshot = growing_jobs(2);
  snapshot.jobs[1].request.gpus = 1;
  snapshot.jobs[1].hints->resize = Resize::kNone;
  EXPECT_EQ(round_of(snapshot, {{"", 7}}).changes.at(0).gpus, 8);
  EXPECT_LT(round_of(snapshot, {{"", 6}}).changes.at(0).gpus, 8);
  EXPECT_TRUE(round_of(snapshot, {{"", 1}}).changes.empty());
}

// The hints keep the submitted size, whatever the request says.
TEST(GrowthCap, CountsFromTheSubmittedSize) {
  Snapshot snapshot = growing_jobs(2);
  snapshot.jobs[1].request.gpus = 2;
  snapshot.jobs[1].hints->request_gpus = 1;
  snapshot.jobs[1].hints->resize = Resize::kNone;
  EXPECT_EQ(round_of(snapshot, {{"", 7}}).changes.at(0).gpus, 8);
  EXPECT_LT(round_of(snapshot, {{"", 6}}).changes.at(0).gpus, 8);
  snapshot.jobs[0].hints->request_gpus = 8;
  EXPECT_EQ(round_of(snapshot, {{"", 1}}).changes.at(0).gpus, 8) << "it only returns to its size";
}

// On request it becomes as large as the cap allows; no other job may grow meanwhile.
TEST(GrowthCap, AChangeThatIsUnderWayCounts) {
  for (const ResizeStep step : {ResizeStep::kSaving, ResizeStep::kRequeued, ResizeStep::kFailed}) {
    Snapshot snapshot = growing_jobs(2);
    snapshot.jobs[1].hints->request_gpus = 2;
    AskedResize resize;
    resize.job = snapshot.jobs[1].key;
    resize.gpus = 8;
    resize.from = 2;
    resize.step = step;
    resize.since = resize.asked = kNow;
    resize.due = kNow + 60;
    resize.shares = {test::share_of(snapshot, NodeIndex{1}, 8)};
    snapshot.memory.asked_resizes = {resize};
    if (step == ResizeStep::kRequeued) {
      Job& job = snapshot.jobs[1];
      job.state = JobState::kPending;
      job.allocation.clear();
      job.restarts = 1;
      job.node_set = 0;
      job.block = Block::kOther;  // its last run is completing
    }
    const Plan plan = round_of(snapshot, {{"", 6}});
    const bool over = step == ResizeStep::kFailed;
    EXPECT_EQ(plan.changes.size(), over ? 1U : 0U) << to_string(step);
    EXPECT_EQ(round_of(snapshot, {{"", 12}}).changes.size(), over ? 2U : 1U) << to_string(step);
  }
}

TEST(GrowthCap, AWaitingJobStartsWithinTheCap) {
  Snapshot snapshot = growing_jobs(1);
  Job waits = snapshot.jobs[0];
  snapshot = test::make_cluster({{"slow", 8}});
  waits.state = JobState::kPending;
  waits.allocation.clear();
  waits.time_limit = 10'000'000;
  waits.node_set = 0;
  waits.start = waits.end_limit = 0;
  snapshot.jobs.push_back(waits);
  const Plan free = round_of(snapshot, {});
  ASSERT_EQ(free.starts.size(), 1U);
  EXPECT_EQ(free.starts[0].gpus, 8);
  const Plan plan = round_of(snapshot, {{"", 0}});
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].gpus, 0) << "as requested";
}

TEST(GrowthCap, IsReadAndShown) {
  const Option* const option = find_option("GrowthCap");
  ASSERT_NE(option, nullptr);
  for (const char* text : {"16", "high:64,normal:0"}) {
    Config config;
    ASSERT_TRUE(set_option(*option, text, config)) << text;
    EXPECT_EQ(show_option(*option, config), text);
  }
  Config config;
  ASSERT_TRUE(set_option(*option, "High:64", config));
  EXPECT_EQ(config.growth_caps.at("high"), 64);
  for (const char* text :
       {"", "x", "-1", "1.5", "a:", ":1", "a:1,a:2", "8,9", "a:1,8", "a:1000001"})
    EXPECT_FALSE(set_option(*option, text, config)) << text;
}

}  // namespace
}  // namespace rubato
