// SPDX-License-Identifier: GPL-2.0-or-later
// Mode elastic: caps on restarts.
#include "lib/policy/algorithms/restarts.h"

#include <gtest/gtest.h>

#include "lib/json/json.h"
#include "lib/json/public_view.h"
#include "lib/policy/memory.h"
#include "lib/policy/round.h"
#include "test/support/growing_jobs.h"

namespace rubato {
namespace {

using test::growing_jobs;
using test::kNow;

Config capped(int Config::*cap, int most) {
  Config config = test::managing_all(Mode::kElastic);
  config.*cap = most;
  config.test_off.insert(Mechanism::kClosing);  // short jobs go first
  return config;
}

/// The snapshot after slurmctld has requeued and started the changed jobs at `now`: with their old
/// GPUs, so that they would change again.
Snapshot requeued(Snapshot snapshot, const Plan& plan, Seconds now) {
  snapshot.memory = plan.memory;
  snapshot.taken = now;
  for (Job& job : snapshot.jobs) {
    if (std::ranges::find(plan.changes, job.key, &Change::job) == plan.changes.end()) continue;
    ++job.restarts;
    job.key.submit = now - 10;
    job.start = now - 5;
  }
  return snapshot;
}

Plan round_at(const Snapshot& snapshot, const Config& config, Seconds now) {
  return round(snapshot, test::growing_models(), config, now);
}

TEST(Restarts, AJobAtItsCapKeepsItsGpus) {
  const Config config = capped(&Config::restarts_per_job, 2);
  Snapshot snapshot = growing_jobs(1);
  Seconds now = kNow;
  for (int i = 0; i < 2; ++i, now += 100'000) {
    const Plan plan = round_at(snapshot, config, now);
    ASSERT_EQ(plan.changes.size(), 1U) << i;
    snapshot = requeued(snapshot, plan, now + 60);
  }
  const Plan plan = round_at(snapshot, config, now);
  EXPECT_TRUE(plan.changes.empty());
  ASSERT_EQ(plan.stays.size(), 1U);
  EXPECT_EQ(plan.stays[0].reason, StayReason::kCap);
  EXPECT_EQ(plan.stays[0].rule, "RestartsPerJob");
  EXPECT_EQ(plan.stays[0].until, 0);
  EXPECT_EQ(round_at(snapshot, test::managing_all(Mode::kElastic), now).changes.size(), 1U);
}

TEST(Restarts, TheCapOfADayEndsADayAfterTheRestart) {
  const Config config = capped(&Config::restarts_per_job_day, 1);
  Snapshot snapshot = growing_jobs(1);
  snapshot = requeued(snapshot, round_at(snapshot, config, kNow), kNow + 60);
  Plan plan = round_at(snapshot, config, kNow + 60);
  ASSERT_EQ(plan.stays.size(), 1U);
  EXPECT_EQ(plan.stays[0].rule, "RestartsPerJobDay");
  EXPECT_EQ(plan.stays[0].until, kNow + 60 + kRestartWindow);
  for (const Seconds late : {-1, 0}) {
    snapshot.memory = plan.memory;
    snapshot.taken = kNow + 60 + kRestartWindow + late;
    EXPECT_EQ(round_at(snapshot, config, snapshot.taken).changes.size(), late < 0 ? 0U : 1U);
  }
}

TEST(Restarts, ARoundRestartsTheJobsOfAUserThatGainTheMost) {
  const Snapshot snapshot = growing_jobs(3);
  const Plan all = round_at(snapshot, test::managing_all(Mode::kElastic), kNow);
  ASSERT_EQ(all.changes.size(), 3U);
  Snapshot two_users = snapshot;
  two_users.jobs[2].uid = 8;
  for (const bool one : {true, false}) {
    const Plan plan =
        round_at(one ? snapshot : two_users, capped(&Config::restarts_per_user_day, 1), kNow);
    ASSERT_EQ(plan.changes.size(), one ? 1U : 2U);
    // The shortest job is worth the most.
    EXPECT_EQ(plan.changes[0].job, snapshot.jobs[0].key);
    EXPECT_EQ(plan.stays.size(), one ? 2U : 1U);
    for (const Stay& stay : plan.stays) EXPECT_EQ(stay.rule, "RestartsPerUserDay");
  }
}

TEST(Restarts, OtherJobsOfTheUserCountForADay) {
  const Config config = capped(&Config::restarts_per_user_day, 1);
  Snapshot snapshot = growing_jobs(2);
  snapshot = requeued(snapshot, round_at(snapshot, config, kNow), kNow + 60);
  Snapshot ended = snapshot;
  std::erase_if(ended.jobs, [](const Job& job) { return job.restarts > 0; });
  ASSERT_EQ(ended.jobs.size(), 1U);
  EXPECT_TRUE(round_at(snapshot, config, kNow + 60).changes.empty());
  Snapshot later = snapshot;
  later.memory = round_at(snapshot, config, kNow + 60).memory;
  later.jobs = ended.jobs;
  later.taken = kNow + 7200;
  const Plan plan = round_at(later, config, kNow + 7200);
  EXPECT_TRUE(plan.changes.empty()) << "the job that was restarted has ended";
  EXPECT_TRUE(plan.memory.restarts.empty());
  EXPECT_EQ(plan.memory.user_restarts.size(), 1U);
}

// A plan may be dropped: the same restart may be planned again, another one waits.
TEST(Restarts, APlannedRestartIsNoReasonAgainstItself) {
  const Config config = capped(&Config::restarts_per_user_day, 1);
  Snapshot snapshot = growing_jobs(2);
  const Plan first = round_at(snapshot, config, kNow);
  ASSERT_EQ(first.changes.size(), 1U);
  snapshot.memory = first.memory;
  EXPECT_EQ(first.memory.restarts.size(), 1U);
  EXPECT_EQ(round_at(snapshot, config, kNow + 1).changes[0].job, first.changes[0].job);
  snapshot.jobs[0].exempt_until = kNow + 1000;
  EXPECT_TRUE(round_at(snapshot, config, kNow + 1).changes.empty()) << "it may still come";
  snapshot.taken = kNow + kRestartDelay;
  const Plan late = round_at(snapshot, config, kNow + kRestartDelay);
  ASSERT_EQ(late.changes.size(), 1U);
  EXPECT_EQ(late.changes[0].job, snapshot.jobs[1].key);
}

TEST(Restarts, RequeuesThatRubatoDidNotPlanDoNotCount) {
  const Config config = capped(&Config::restarts_per_job, 1);
  Snapshot snapshot = growing_jobs(1);
  snapshot.jobs[0].restarts = 9;
  EXPECT_EQ(round_at(snapshot, config, kNow).changes.size(), 1U);
}

TEST(Restarts, NothingIsCountedWithoutACap) {
  Snapshot snapshot = growing_jobs(2);
  const Plan plan = round_at(snapshot, test::managing_all(Mode::kElastic), kNow);
  EXPECT_FALSE(plan.changes.empty());
  EXPECT_TRUE(plan.memory.restarts.empty());
}

TEST(Restarts, RecordsOfADayAreBounded) {
  const Config config = capped(&Config::restarts_per_job, 1'000'000);
  Snapshot snapshot = growing_jobs(1);
  Seconds now = kNow;
  for (int i = 0; i < 400; ++i) {
    now += 600;
    snapshot.taken = now;
    snapshot = requeued(snapshot, round_at(snapshot, config, now), now + 60);
  }
  const Plan plan = round_at(snapshot, config, now + 60);
  ASSERT_EQ(plan.memory.restarts.size(), 1U);
  EXPECT_EQ(plan.memory.restarts[0].count, 400);
  EXPECT_LE(plan.memory.restarts[0].hours.size(), 25U);
  int in_day = 0;
  for (const RestartHour& hour : plan.memory.restarts[0].hours) in_day += hour.count;
  EXPECT_GE(in_day, 144);
  EXPECT_LE(in_day, 150) << "those of an hour count until the last of them is a day old";
}

TEST(Restarts, MemoryIsReadBackSetBackAndHidden) {
  const Config config = capped(&Config::restarts_per_job, 5);
  Snapshot snapshot = growing_jobs(2);
  snapshot = requeued(snapshot, round_at(snapshot, config, kNow), kNow + 60);
  snapshot.memory = round_at(snapshot, config, kNow + 60).memory;
  ASSERT_EQ(snapshot.memory.restarts.size(), 2U);
  ASSERT_EQ(snapshot.memory.user_restarts.size(), 1U);
  const auto back = snapshot_from_json(to_json(snapshot));
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(back->memory, snapshot.memory);
  Memory memory = snapshot.memory;
  EXPECT_GT(set_back(memory, kNow), 0);
  EXPECT_EQ(memory.restarts[0].hours[0].last, kNow);
  EXPECT_EQ(memory.user_restarts[0].hours[0].last, kNow);
  snapshot.private_data.users = true;
  EXPECT_TRUE(public_view(snapshot).memory.user_restarts.empty());
  snapshot.private_data.jobs = true;
  EXPECT_TRUE(public_view(snapshot).memory.restarts.empty());
}

}  // namespace
}  // namespace rubato
