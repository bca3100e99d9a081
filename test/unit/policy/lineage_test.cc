// SPDX-License-Identifier: GPL-2.0-or-later
// What is remembered of a job beyond its requeues.
#include "lib/policy/algorithms/lineage.h"

#include <gtest/gtest.h>

#include "lib/policy/algorithms/forecast.h"
#include "lib/policy/algorithms/service.h"
#include "lib/policy/memory.h"
#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::add_pending;
using test::add_running;
using test::kNow;
using test::make_cluster;
using test::share_of;

// As a round sees it.
Service service_after(Snapshot snapshot, Seconds now, const Job& job) {
  const JobKey key = job.key;
  if (auto memory = follow_requeues(snapshot)) snapshot.memory = *std::move(memory);
  const Models models({{"fast", 4.0}, {"slow", 1.0}});
  for (const Service& service : update_service(snapshot, models, {}, now))
    if (service.job == key) return service;
  ADD_FAILURE() << "no service of job " << key.id;
  return {};
}

Snapshot requeued_job(JobKey before) {
  Snapshot snapshot = make_cluster({{"fast", 4}});
  Job& job = add_pending(snapshot, 2);
  job.key = {before.id, before.submit + 500};
  job.restarts = 1;
  job.hints = ResolvedHints{};
  job.hints->job_type = "vision";
  job.hints->work = Work{WorkUnit::kSamples, 10'000, 0};
  return snapshot;
}

TEST(Lineage, ARequeuedJobKeepsWhatItAttainedAndAReusedIdDoesNot) {
  Snapshot snapshot = make_cluster({{"fast", 4}});
  Job& job = add_pending(snapshot, 2);
  snapshot.memory.service = {{.job = {job.key.id, job.key.submit - 500},
                              .attained = 700,
                              .since_promotion = 700,
                              .executed = 350,
                              .updated = kNow - 200}};
  EXPECT_EQ(service_after(snapshot, kNow, job).attained, 0);
  job.restarts = 1;
  EXPECT_EQ(service_after(snapshot, kNow, job).attained, 700);
}

TEST(Lineage, TheLastSecondsOfARunThatWasRequeuedCount) {
  Snapshot snapshot = make_cluster({{"fast", 4}});
  Job& job = add_pending(snapshot, 2);
  job.restarts = 1;
  const Service before{.job = {job.key.id, job.key.submit - 500},
                       .attained = 700,
                       .since_promotion = 700,
                       .executed = 350,
                       .updated = job.key.submit - 9,
                       .held = 2};
  snapshot.memory.service = {before};
  const Service after = service_after(snapshot, kNow, job);
  EXPECT_EQ(after.attained, 700 + 2 * 9);
  EXPECT_EQ(after.since_promotion, 700 + 2 * 9);
  EXPECT_EQ(after.executed, 350 + 9);
  EXPECT_EQ(after.held, 0);
  snapshot.memory.service = {after};
  EXPECT_EQ(service_after(snapshot, kNow + 50, job).attained, 718);

  // It runs again before the next round.
  snapshot.jobs.clear();
  Job& again = add_running(snapshot, {share_of(snapshot, 0, 2)}, kNow + 100);
  again.request.gpus = 2;
  again.restarts = 1;
  again.key.submit = kNow - 3610;
  snapshot.memory.service = {
      {.job = {again.key.id, kNow - 5000}, .attained = 10, .updated = kNow - 3615, .held = 4}};
  const Service runs = service_after(snapshot, kNow, again);
  EXPECT_EQ(runs.attained, 10 + 4 * 5 + 2 * 3600);
  EXPECT_EQ(runs.held, 2);
}

TEST(Lineage, WorkThatWasDoneBeforeARequeueIsNotLeft) {
  const JobKey before{7, kNow - 900};
  Snapshot snapshot = requeued_job(before);
  snapshot.memory.progress = {{.job = before, .time = kNow - 700, .samples = 6000}};
  const auto memory = follow_requeues(snapshot);
  ASSERT_TRUE(memory);
  snapshot.memory = *memory;
  EXPECT_EQ(*work_left(snapshot, snapshot.jobs[0]), 4000);
  EXPECT_FALSE(follow_requeues(snapshot)) << "once";
}

TEST(Lineage, TheLastReportOfAJobCounts) {
  const JobKey before{7, kNow - 900};
  Snapshot snapshot = requeued_job(before);
  const JobKey now = snapshot.jobs[0].key;
  const Progress early{.job = before, .time = kNow - 700, .samples = 6000};
  const Progress late{.job = now, .time = kNow - 100, .samples = 7000};
  const Progress other{.job = {8, kNow - 900}, .time = kNow - 900, .samples = 1};
  const Progress reused{.job = {7, now.submit + 1}, .time = kNow, .samples = 2};
  snapshot.memory.progress = {early, late, reused, other};
  EXPECT_EQ(follow_requeues(snapshot)->progress, (std::vector<Progress>{late, reused, other}));
  // A report of the run before came after the requeue was seen.
  Progress delayed = early;
  delayed.time = kNow - 50;
  snapshot.memory.progress = {delayed, late, other};
  delayed.job = now;
  EXPECT_EQ(follow_requeues(snapshot)->progress, (std::vector<Progress>{delayed, other}));
}

TEST(Lineage, AReusedIdIsAnotherJob) {
  const JobKey before{7, kNow - 900};
  Snapshot snapshot = requeued_job(before);
  snapshot.jobs[0].restarts = 0;
  snapshot.memory.progress = {{.job = before, .time = kNow - 700, .samples = 6000}};
  snapshot.memory.progress_histories = {{.job = before, .updated = kNow - 700}};
  EXPECT_FALSE(follow_requeues(snapshot));
}

// Slurm hides a requeued job from the scheduler for two minutes (AuthInfo=cred_expire).
TEST(Lineage, WhatAJobDidIsKeptWhileARequeueHidesIt) {
  const JobKey before{7, kNow - 9000};
  Snapshot snapshot = make_cluster({{"fast", 4}});
  Job& runs = add_running(snapshot, {share_of(snapshot, 0, 2)}, kNow + 5000);
  runs.key = before;
  runs.request.gpus = 2;
  snapshot.memory.progress = {{.job = before, .time = kNow - 5000, .samples = 6000}};
  snapshot.memory.progress_histories = {{.job = before, .updated = kNow - 5000}};
  snapshot.memory = round(snapshot, {}, {}, kNow).memory;
  Snapshot hidden = snapshot;
  hidden.jobs.clear();
  hidden.memory = round(hidden, {}, {}, kNow + 60).memory;
  Snapshot again = requeued_job(before);
  again.memory = hidden.memory;
  const Memory memory = round(again, {}, {}, kNow + 120).memory;
  ASSERT_EQ(memory.progress.size(), 1U);
  EXPECT_EQ(memory.progress[0].job, again.jobs[0].key);
  EXPECT_EQ(memory.progress[0].samples, 6000);
  ASSERT_EQ(memory.progress_histories.size(), 1U);
  EXPECT_EQ(memory.progress_histories[0].job, again.jobs[0].key);
  ASSERT_EQ(memory.service.size(), 1U);
  EXPECT_GE(memory.service[0].attained, 2 * 3600);
  // It never came back.
  EXPECT_TRUE(round(hidden, {}, {}, kNow + 60 + kRequeueTime).memory.progress.empty());
}

}  // namespace
}  // namespace rubato
