// SPDX-License-Identifier: GPL-2.0-or-later
// Mode elastic: what an admin has set about interruptions.
#include "lib/policy/algorithms/change_bounds.h"

#include <gtest/gtest.h>

#include "lib/json/json.h"
#include "lib/policy/algorithms/change_costs.h"
#include "lib/policy/round.h"
#include "test/support/growing_jobs.h"

namespace rubato {
namespace {

using test::growing_jobs;
using test::kNow;

Config elastic() {
  Config config = test::managing_all(Mode::kElastic);
  config.test_off.insert(Mechanism::kClosing);  // short jobs go first
  return config;
}

Plan round_of(const Snapshot& snapshot, const Config& config) {
  return round(snapshot, test::growing_models(), config, kNow);
}

TEST(ChangeBounds, AnExemptJobKeepsItsGpus) {
  for (const Seconds until : {kNow - 1, kNow, kNow + 1}) {
    Snapshot snapshot = growing_jobs(1);
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
    const Plan plan = round_of(growing_jobs(1), config);
    ASSERT_EQ(plan.changes.empty(), least > 600);
    if (plan.changes.empty()) {
      EXPECT_EQ(plan.stays[0].rule, "MinRunTime");
      EXPECT_EQ(plan.stays[0].until, kNow + 1);
    }
  }
}

TEST(ChangeBounds, TheLaterOfBothTimesCounts) {
  Snapshot snapshot = growing_jobs(1);
  snapshot.jobs[0].exempt_until = kNow + 50;
  Config config = elastic();
  for (const Seconds least : {640, 660}) {
    config.min_run_time = least;
    const auto bound =
        change_bound({snapshot, test::growing_models(), config, kNow}, snapshot.jobs[0]);
    ASSERT_TRUE(bound);
    EXPECT_EQ(bound->rule, least == 640 ? "PreemptExemptTime" : "MinRunTime");
    EXPECT_EQ(bound->until, least == 640 ? kNow + 50 : kNow + 60);
  }
}

// A short job waits for the GPUs of a long one, which is stopped for it.
TEST(ChangeBounds, AnExemptJobMakesNoRoom) {
  for (const bool exempt : {false, true}) {
    Snapshot snapshot = growing_jobs(1);
    const ResolvedHints hints = *snapshot.jobs[0].hints;
    snapshot.jobs[0].hints->work->count = 100'000'000;
    if (exempt) snapshot.jobs[0].exempt_until = kNow + 60;
    Job& waits = test::add_pending(snapshot, 8);
    waits.account = "lab";
    waits.later_set = 0;
    waits.time_limit = 100'000;
    waits.hints = hints;
    waits.hints->work->count = 1000;
    waits.hints->sizes = GpuSizes({{8, 8}});
    const Plan plan = round_of(snapshot, elastic());
    EXPECT_EQ(plan.changes.empty(), exempt);
    EXPECT_EQ(plan.starts.empty(), exempt);
  }
}

// Its signal goes to steps, and none runs: a restart would lose its work.
TEST(ChangeBounds, AJobThatNoSignalReachesIsNotRestarted) {
  for (const bool batch_only : {false, true}) {
    for (const bool without_step : {false, true}) {
      Snapshot snapshot = growing_jobs(1);
      snapshot.jobs[0].hints->checkpoint.batch_only = batch_only;
      snapshot.jobs[0].without_step = without_step;
      const bool unreached = without_step && !batch_only;
      EXPECT_EQ(is_unreached(snapshot.jobs[0]), unreached);
      const Plan plan = round_of(snapshot, elastic());
      ASSERT_EQ(plan.changes.empty(), unreached);
      ASSERT_EQ(plan.stays.size(), unreached ? 1U : 0U);
      if (!unreached) continue;
      EXPECT_EQ(plan.stays[0].reason, StayReason::kUnreached);
      EXPECT_EQ(plan.stays[0].rule, "checkpoint");
      EXPECT_EQ(plan.stays[0].until, 0);
    }
  }
}

// A live growth needs no signal.
TEST(ChangeBounds, AJobThatNoSignalReachesGrowsLive) {
  Snapshot snapshot = growing_jobs(1);
  snapshot.jobs[0].hints->checkpoint.batch_only = false;
  snapshot.jobs[0].without_step = true;
  snapshot.jobs[0].hints->resize = Resize::kLive;
  const Plan plan = round_of(snapshot, elastic());
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].action, ChangeAction::kGrow);
}

TEST(ChangeBounds, TheTimeIsReadBack) {
  Snapshot snapshot = growing_jobs(1);
  snapshot.jobs[0].exempt_until = kNow + 60;
  snapshot.jobs[0].without_step = true;
  const auto back = snapshot_from_json(to_json(snapshot));
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(*back, snapshot);
  const Plan plan = round_of(snapshot, elastic());
  const auto again = plan_from_json(to_json(plan, snapshot), snapshot);
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ(again->stays, plan.stays);
}

// A start lasts RestartCost, and a change of any kind counts as a restart.
TEST(ChangeCosts, AJobIsStartingForRestartCost) {
  Snapshot snapshot = test::make_cluster({{"a100", 8}});
  test::add_pending(snapshot, 4);
  Job& job = test::add_running(snapshot, {test::share_of(snapshot, 0, 4)}, test::kNow + 600);
  Config config;
  config.restart_cost = 60;
  for (const auto& [ran, left] : {std::pair(0, 60), std::pair(20, 40), std::pair(90, 0)}) {
    job.start = snapshot.taken - ran;
    fill_change_costs(snapshot, config);
    EXPECT_EQ(job.starting, left);
    EXPECT_EQ(job.costs, (ChangeCosts{60, 60, 60}));
  }
  job.start = snapshot.taken + 5;  // the clock was set back
  fill_change_costs(snapshot, config);
  EXPECT_EQ(job.starting, 60);
  EXPECT_EQ(snapshot.jobs.front().starting, 0) << "it waits";
}

}  // namespace
}  // namespace rubato
