// SPDX-License-Identifier: GPL-2.0-or-later
// Mode elastic: what an admin has set about interruptions.
#include "lib/policy/algorithms/change_bounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

#include "lib/json/json.h"
#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::add_pending;
using test::add_running;
using test::kNow;
using test::make_cluster;
using test::share_of;

/// Jobs scale with the power .8 of their GPUs.
Models learnt() {
  const std::map<std::string, double> speeds = {{"slow", 1.0}};
  std::vector<ThroughputObservation> observations;
  for (int gpus = 1; gpus <= 8; gpus *= 2)
    observations.push_back({{"lab", "net"}, "slow", gpus, 10 * std::pow(gpus, .8), 50});
  return Models(speeds, std::make_shared<const ThroughputModel>(TypeSpeeds(speeds), observations));
}

void make_elastic(Job& job, std::int64_t samples) {
  job.account = "lab";
  job.later_set = 0;
  job.hints = ResolvedHints{};
  job.hints->job_type = "net";
  job.hints->work = Work{WorkUnit::kSamples, samples, 0};
  job.hints->sizes = GpuSizes({{1, 8}});
  job.hints->checkpoint.signal = SIGUSR1;
  job.hints->resize = Resize::kRestart;
  job.costs = {30, 30, 30};
}

Job& running(Snapshot& snapshot, int gpus, std::int64_t samples) {
  Job& job = add_running(snapshot, {share_of(snapshot, 0, gpus)}, kNow + 1'000'000);
  job.start = job.eligible = kNow - 600;
  job.request.gpus = gpus;
  make_elastic(job, samples);
  return job;
}

/// A job on two of eight GPUs, which grows if it may.
Snapshot growing() {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  running(snapshot, 2, 1'000'000);
  return snapshot;
}

Config elastic() { return test::managing_all(Mode::kElastic); }

Plan round_of(const Snapshot& snapshot, const Config& config) {
  return round(snapshot, learnt(), config, kNow);
}

TEST(ChangeBounds, AnExemptJobKeepsItsGpus) {
  for (const Seconds until : {kNow - 1, kNow, kNow + 1}) {
    Snapshot snapshot = growing();
    snapshot.jobs[0].exempt_until = until;
    const Plan plan = round_of(snapshot, elastic());
    const bool exempt = until > kNow;
    ASSERT_EQ(plan.changes.size(), exempt ? 0U : 1U);
    ASSERT_EQ(plan.stays.size(), exempt ? 1U : 0U);
    if (!exempt) continue;
    EXPECT_EQ(plan.stays[0].reason, StayReason::kExempt);
    EXPECT_EQ(plan.stays[0].rule, "PreemptExemptTime");
    EXPECT_EQ(plan.stays[0].until, until);
    EXPECT_GT(plan.stays[0].seconds_left, 0);
    EXPECT_EQ(plan.stays[0].gpus, 0);
  }
}

TEST(ChangeBounds, MinRunTimeCountsFromTheStart) {
  Config config = elastic();
  for (const Seconds least : {0, 600, 601}) {
    config.min_run_time = least;
    const Plan plan = round_of(growing(), config);
    ASSERT_EQ(plan.changes.empty(), least > 600);
    if (plan.changes.empty()) {
      EXPECT_EQ(plan.stays[0].rule, "MinRunTime");
      EXPECT_EQ(plan.stays[0].until, kNow + 1);
    }
  }
}

TEST(ChangeBounds, TheLaterOfBothTimesCounts) {
  Snapshot snapshot = growing();
  snapshot.jobs[0].exempt_until = kNow + 50;
  Config config = elastic();
  for (const Seconds least : {640, 660}) {
    config.min_run_time = least;
    const auto bound = change_bound({snapshot, learnt(), config, kNow}, snapshot.jobs[0]);
    ASSERT_TRUE(bound);
    EXPECT_EQ(bound->rule, least == 640 ? "PreemptExemptTime" : "MinRunTime");
    EXPECT_EQ(bound->until, least == 640 ? kNow + 50 : kNow + 60);
  }
}

// A short job waits for the GPUs of a long one, which would be stopped or shrink for it.
TEST(ChangeBounds, AnExemptJobMakesNoRoom) {
  for (const bool exempt : {false, true}) {
    Snapshot snapshot = make_cluster({{"slow", 8}});
    Job& held = running(snapshot, 8, 100'000'000);
    if (exempt) held.exempt_until = kNow + 60;
    Job& waits = add_pending(snapshot, 4);
    waits.time_limit = 100'000;
    make_elastic(waits, 1000);
    const Plan plan = round_of(snapshot, elastic());
    EXPECT_EQ(plan.changes.empty(), exempt);
    EXPECT_EQ(plan.starts.empty(), exempt);
  }
}

TEST(ChangeBounds, TheTimeIsReadBack) {
  Snapshot snapshot = growing();
  snapshot.jobs[0].exempt_until = kNow + 60;
  const auto back = snapshot_from_json(to_json(snapshot));
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(*back, snapshot);
  const Plan plan = round_of(snapshot, elastic());
  const auto again = plan_from_json(to_json(plan, snapshot), snapshot);
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ(again->stays, plan.stays);
}

}  // namespace
}  // namespace rubato
