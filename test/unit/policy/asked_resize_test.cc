// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/asked_resize.h"

#include <gtest/gtest.h>

#include "lib/policy/algorithms/growth_cap.h"
#include "lib/policy/memory.h"
#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::add_consenting;
using test::add_pending;
using test::add_running;
using test::kNow;
using test::make_cluster;
using test::managing_all;
using test::share_of;

AskedResize requeued(const Snapshot& snapshot, const Job& job) {
  AskedResize restart;
  restart.job = job.key;
  restart.step = ResizeStep::kRequeued;
  restart.from = 8;
  restart.gpus = 4;
  restart.gpu_type = "a100";
  restart.requeued = kNow - 5;
  restart.due = kNow + 100;
  restart.shares = {share_of(snapshot, 0, 4)};
  return restart;
}

Result<Start> asked(const Snapshot& snapshot, const JobKey& job, int gpus) {
  return start_after_restart(snapshot, Models{}, managing_all(Mode::kPlace), job, {gpus, ""}, kNow);
}

const Start* start_of(const Plan& plan, JobId job) {
  for (const Start& start : plan.starts)
    if (start.job.id == job) return &start;
  return nullptr;
}

TEST(AskedResize, StartsOnTheGpusThatItGivesBack) {
  Snapshot snapshot = make_cluster({{"a100", 8}});
  const JobKey job = add_consenting(snapshot).key;
  const auto start = asked(snapshot, job, 4);
  ASSERT_TRUE(start) << start.error().text;
  EXPECT_EQ(start->gpus, 4);
  EXPECT_EQ(start->gpu_type, "a100");
  ASSERT_EQ(start->shares.size(), 1);
  EXPECT_EQ(start->shares[0].gpu_count(), 4);
}

// After the requeue Slurm would not start it there.
TEST(AskedResize, DoesNotRestartInAReservationOfSlurm) {
  Snapshot snapshot = make_cluster({{"a100", 8}});
  Job& job = add_consenting(snapshot);
  snapshot.node_sets.push_back({NodeIndex{0}});
  snapshot.windows = {{"kept", kNow + 600, kNow + 9000, NodeSetIndex{1}}};
  EXPECT_FALSE(asked(snapshot, job.key, 4));
  job.node_set = 0;
  EXPECT_TRUE(asked(snapshot, job.key, 4));
}

TEST(AskedResize, GoesBeforeJobsThatWait) {
  Snapshot snapshot = make_cluster({{"a100", 8}});
  const JobKey job = add_consenting(snapshot).key;
  add_pending(snapshot, 8).priority = 1000;
  EXPECT_TRUE(asked(snapshot, job, 4));
}

// The test whether a job has a place is about this job alone, also in mode elastic.
TEST(AskedResize, InModeElasticTheOthersKeepWhatTheyHave) {
  Snapshot snapshot = make_cluster({{"a100", 8}});
  const JobKey job = add_consenting(snapshot).key;
  const Config elastic = managing_all(Mode::kElastic);
  const auto start = start_after_restart(snapshot, Models{}, elastic, job, {4, ""}, kNow);
  ASSERT_TRUE(start) << start.error().text;
  EXPECT_TRUE(start->after.empty());
  EXPECT_EQ(start->gpus, 4);
}

// A job that was stopped waits as any other.
TEST(AskedResize, AStoppedJobHasNoPlace) {
  Snapshot snapshot = make_cluster({{"a100", 8}});
  AskedResize stopped = requeued(snapshot, add_consenting(snapshot));
  stopped.gpus = 0;
  stopped.shares.clear();
  Snapshot later = make_cluster({{"a100", 8}});
  later.memory.asked_resizes = {stopped};
  EXPECT_FALSE(with_restarts(later));
  Snapshot waits = later;  // a long epilog
  Job& eligible = add_pending(waits, 8);
  eligible.key = {stopped.job.id, kNow - 2};
  eligible.restarts = 1;
  waits.memory.asked_resizes[0].due = kNow;
  const auto late = follow_resizes(waits.memory, waits);
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].step, ResizeStep::kDone);
  Job& again = add_running(later, {share_of(later, 0, 8)}, kNow + 600);
  again.key = {stopped.job.id, kNow - 2};
  again.restarts = 1;
  const auto closed = follow_resizes(later.memory, later);
  ASSERT_EQ(closed.size(), 1U);
  EXPECT_EQ(closed[0].step, ResizeStep::kDone);
}

// A waiting job with a reservation neither gets the GPUs meanwhile nor is delayed.
TEST(AskedResize, KeepsClearOfPromisedStarts) {
  Snapshot snapshot = make_cluster({{"a100", 8}});
  Job& job = add_consenting(snapshot);
  const JobKey key = job.key;
  job.time_limit = 600;
  const JobKey waits = add_pending(snapshot, 8).key;
  Reservation promise;
  promise.job = waits;
  promise.partition = "gpu";
  promise.gpu_type = "a100";
  promise.start = kNow + 3600;
  promise.shares = {share_of(snapshot, 0, 8)};
  snapshot.memory.reservations = {promise};
  EXPECT_TRUE(asked(snapshot, key, 4));
  snapshot.memory.reservations[0].start = kNow + 599;
  EXPECT_FALSE(asked(snapshot, key, 4));
}

TEST(AskedResize, APromisedStartDoesNotMoveToItsPlace) {
  Snapshot snapshot = make_cluster({{"a100", 8}});
  const Job job = add_consenting(snapshot);
  Snapshot later = make_cluster({{"a100", 8}});
  later.memory.asked_resizes = {requeued(snapshot, job)};
  const JobKey waits = add_pending(later, 8).key;
  Job& again = add_pending(later, 8);
  again.key = {job.key.id, kNow - 2};
  again.hints = job.hints;
  again.restarts = 1;
  Reservation promise;
  promise.job = waits;
  promise.partition = "gpu";
  promise.gpu_type = "a100";
  promise.start = kNow + 7200;
  promise.shares = {share_of(snapshot, 0, 8)};
  later.memory.reservations = {promise};
  const Plan plan = round(later, Models{}, managing_all(Mode::kPlace), kNow);
  const Start* const start = start_of(plan, job.key.id);
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(start->gpus, 4);
  EXPECT_EQ(start_of(plan, waits.id), nullptr);
}

// Of a job of two partitions, the entry that may use the place gets it.
TEST(AskedResize, ItsPlaceIsInOneOfItsPartitions) {
  Snapshot snapshot = make_cluster({{"a100", 8}, {"a100", 8}});
  const Job job = add_consenting(snapshot);
  Snapshot later = make_cluster({{"a100", 8}, {"a100", 8}});
  later.node_sets.push_back({1});
  later.partitions.push_back({"other", 1, true, 1});
  later.memory.asked_resizes = {requeued(snapshot, job)};
  for (const char* partition : {"gpu", "other"}) {
    Job& again = add_pending(later, 8);
    again.key = {job.key.id, kNow - 2};
    again.partition = partition;
    again.node_set = again.later_set = NodeSetIndex(again.partition == "gpu" ? 0 : 1);
    again.hints = job.hints;
    again.restarts = 1;
  }
  const std::optional<Snapshot> seen = with_restarts(later);
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->memory.reservations.size(), 1);
  EXPECT_EQ(seen->memory.reservations[0].partition, "gpu");
}

TEST(AskedResize, AClockSetBackDoesNotKeepItsPlaceForLonger) {
  Snapshot snapshot = make_cluster({{"a100", 8}});
  Memory memory;
  memory.asked_resizes = {requeued(snapshot, add_consenting(snapshot))};
  AskedResize& restart = memory.asked_resizes[0];
  restart.since = kNow;
  restart.due = kNow + 120;
  EXPECT_GT(set_back(memory, kNow - 3600), 0);
  EXPECT_EQ(restart.since, kNow - 3600);
  EXPECT_EQ(restart.due, kNow - 3600 + 120);
}

TEST(AskedResize, NeedsRoomAndOneOfItsSizes) {
  Snapshot snapshot = make_cluster({{"a100", 8}, {"a100", 8}});
  Job& job = add_consenting(snapshot);
  job.hints->sizes = GpuSizes({{4, 4}, {8, 8}, {16, 16}});
  const JobKey key = job.key;
  EXPECT_TRUE(asked(snapshot, key, 16));
  add_running(snapshot, {share_of(snapshot, 1, 1)}, kNow + 3600);
  EXPECT_FALSE(asked(snapshot, key, 16));
  const auto odd = asked(snapshot, key, 6);
  ASSERT_FALSE(odd);
  EXPECT_NE(odd.error().text.find("not one of its sizes"), std::string::npos) << odd.error().text;
}

TEST(AskedResize, OnlyWithConsent) {
  Snapshot snapshot = make_cluster({{"a100", 8}});
  Job& job = add_consenting(snapshot);
  EXPECT_EQ(why_never_restarted(job), "");
  job.hints->resize = Resize::kNone;
  EXPECT_NE(why_never_restarted(job).find("resize=restart"), std::string::npos);
  job.hints->checkpoint.signal = 0;
  EXPECT_NE(why_never_restarted(job).find("did not consent"), std::string::npos);
  job.hints.reset();
  EXPECT_NE(why_never_restarted(job).find("did not consent"), std::string::npos);
}

// Between the requeue and the start no other job gets its place; without the memory one does.
TEST(AskedResize, ItsPlaceIsKeptWhileItIsNotInTheQueue) {
  Snapshot snapshot = make_cluster({{"a100", 8}});
  const Job job = add_consenting(snapshot);
  const AskedResize restart = requeued(snapshot, job);
  Snapshot freed = make_cluster({{"a100", 8}});
  const JobId other = add_pending(freed, 8).key.id;
  const Config config = managing_all(Mode::kPlace);
  EXPECT_NE(start_of(round(freed, Models{}, config, kNow), other), nullptr);
  freed.memory.asked_resizes = {restart};
  EXPECT_EQ(start_of(round(freed, Models{}, config, kNow), other), nullptr);
  Snapshot small = make_cluster({{"a100", 8}});
  small.memory.asked_resizes = {restart};
  const JobId four = add_pending(small, 4).key.id;
  EXPECT_NE(start_of(round(small, Models{}, config, kNow), four), nullptr);
  freed.memory.asked_resizes[0].due = kNow;
  EXPECT_NE(start_of(round(freed, Models{}, config, kNow), other), nullptr);
}

// Slurm shows it for a moment as waiting for its begin time.
TEST(AskedResize, ItsPlaceIsKeptWhileSlurmBlocksIt) {
  Snapshot snapshot = make_cluster({{"a100", 8}});
  const Job job = add_consenting(snapshot);
  Snapshot later = make_cluster({{"a100", 8}});
  later.memory.asked_resizes = {requeued(snapshot, job)};
  Job& again = add_pending(later, 8);
  again.key = {job.key.id, kNow - 2};
  again.hints = job.hints;
  again.restarts = 1;
  again.block = Block::kOther;
  const JobId other = add_pending(later, 8).key.id;
  const Plan plan = round(later, Models{}, managing_all(Mode::kPlace), kNow);
  EXPECT_EQ(start_of(plan, other), nullptr);
}

TEST(AskedResize, StartsFirstAndWithTheSizeAskedFor) {
  Snapshot snapshot = make_cluster({{"a100", 8}});
  Job job = add_consenting(snapshot);
  Snapshot later = make_cluster({{"a100", 8}});
  later.memory.asked_resizes = {requeued(snapshot, job)};
  const JobId other = add_pending(later, 8).key.id;
  Job& again = add_pending(later, 8);
  again.key = {job.key.id, kNow - 2};
  again.hints = job.hints;
  again.restarts = 1;
  const Plan plan = round(later, Models{}, managing_all(Mode::kPlace), kNow);
  const Start* const start = start_of(plan, job.key.id);
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(start->gpus, 4);
  EXPECT_EQ(start_of(plan, other), nullptr);
  EXPECT_EQ(plan.memory.asked_resizes, later.memory.asked_resizes);
}

// A restart of `job`, which was told to save its state, at `shares`.
AskedResize saving(const Job& job, std::vector<NodeShare> shares) {
  AskedResize restart;
  restart.job = job.key;
  restart.from = held_gpus(job);
  restart.gpu_type = "a100";
  for (const NodeShare& share : shares) restart.gpus += share.gpu_count();
  restart.since = kNow - 5;
  restart.due = kNow + 55;
  restart.shares = std::move(shares);
  return restart;
}

// During the lead time no other job gets its place; without the memory one does.
TEST(AskedResize, ItsPlaceIsKeptFromTheSignalOn) {
  Snapshot snapshot = make_cluster({{"a100", 8}, {"a100", 8}});
  const Job job = add_consenting(snapshot);
  const JobId other = add_pending(snapshot, 8).key.id;
  const Config config = managing_all(Mode::kPlace);
  EXPECT_NE(start_of(round(snapshot, Models{}, config, kNow), other), nullptr);
  snapshot.memory.asked_resizes = {saving(job, {share_of(snapshot, 1, 8)})};
  EXPECT_EQ(start_of(round(snapshot, Models{}, config, kNow), other), nullptr);
  AskedResize& restart = snapshot.memory.asked_resizes[0];
  restart.due = kNow - 1;  // another restart is carried out first
  EXPECT_EQ(start_of(round(snapshot, Models{}, config, kNow), other), nullptr);
  const AskedResize kept = restart;
  restart.live = true;  // it gives back nodes, and needs no other place
  restart.from = restart.gpus + 1;
  EXPECT_FALSE(with_restarts(snapshot));
  restart = kept;
  restart.step = ResizeStep::kFailed;
  EXPECT_FALSE(with_restarts(snapshot));
}

// Its place may overlap with the GPUs that it still holds, on one node too.
TEST(AskedResize, OnlyWhatItLacksIsKeptFromTheSignalOn) {
  Snapshot snapshot = make_cluster({{"a100", 16}});
  const Job job = add_consenting(snapshot);
  const JobId four = add_pending(snapshot, 4).key.id;
  const JobId three = add_pending(snapshot, 3).key.id;
  const JobId other = add_pending(snapshot, 1).key.id;
  const Config config = managing_all(Mode::kPlace);
  snapshot.memory.asked_resizes = {saving(job, {share_of(snapshot, 0, 8)})};
  const Plan all = round(snapshot, Models{}, config, kNow);
  EXPECT_NE(start_of(all, four), nullptr);
  EXPECT_NE(start_of(all, three), nullptr);
  EXPECT_NE(start_of(all, other), nullptr);
  snapshot.memory.asked_resizes = {saving(job, {share_of(snapshot, 0, 12)})};
  const Plan some = round(snapshot, Models{}, config, kNow);
  EXPECT_NE(start_of(some, four), nullptr);
  EXPECT_EQ(start_of(some, three), nullptr);
  EXPECT_EQ(start_of(some, other), nullptr);
}

// A job that takes its place meanwhile holds it: nothing is taken twice.
TEST(AskedResize, WhatOthersHoldIsNotKept) {
  Snapshot snapshot = make_cluster({{"a100", 8}, {"a100", 8}});
  const Job job = add_consenting(snapshot);
  add_running(snapshot, {share_of(snapshot, 1, 6)}, kNow + 3600);
  snapshot.memory.asked_resizes = {saving(job, {share_of(snapshot, 1, 8)})};
  const std::optional<Snapshot> seen = with_restarts(snapshot);
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->jobs.size(), 3U);
  EXPECT_EQ(held_gpus(seen->jobs[0]), 2);  // sorted by key: its submit time is none
  EXPECT_EQ(seen->nodes[1].gpus[0].free, 0);
}

TEST(AskedResize, TheTestAfterTheLeadTimeFindsItsOwnPlaceFree) {
  Snapshot snapshot = make_cluster({{"a100", 8}, {"a100", 8}});
  Job& job = add_consenting(snapshot);
  job.hints->sizes = GpuSizes({{8, 8}, {16, 16}});
  const JobKey key = job.key;
  snapshot.memory.asked_resizes = {
      saving(job, {share_of(snapshot, 0, 8), share_of(snapshot, 1, 8)})};
  const auto start = asked(snapshot, key, 16);
  ASSERT_TRUE(start) << start.error().text;
  EXPECT_EQ(start->shares.size(), 2U);
}

TEST(AskedResize, NothingIsKeptForAJobThatEndedInItsLeadTime) {
  Snapshot snapshot = make_cluster({{"a100", 8}, {"a100", 8}});
  const Job job = add_consenting(snapshot);
  const AskedResize restart = saving(job, {share_of(snapshot, 1, 8)});
  const Config config = managing_all(Mode::kPlace);
  Snapshot gone = make_cluster({{"a100", 8}});
  gone.nodes.push_back(snapshot.nodes[1]);
  gone.node_sets[0] = {0, 1};
  gone.memory.asked_resizes = {restart};
  const JobId other = add_pending(gone, 16).key.id;
  EXPECT_NE(start_of(round(gone, Models{}, config, kNow), other), nullptr);
  snapshot.jobs[0].restarts = 1;  // it was requeued by hand, and runs again
  snapshot.memory.asked_resizes = {restart};
  const JobId eight = add_pending(snapshot, 8).key.id;
  EXPECT_NE(start_of(round(snapshot, Models{}, config, kNow), eight), nullptr);
}

// A start that was promised on these nodes before the place was chosen does not move.
TEST(AskedResize, APromiseOnItsPlaceStaysDuringTheLeadTime) {
  Snapshot snapshot = make_cluster({{"a100", 8}, {"a100", 8}});
  const Job job = add_consenting(snapshot);
  const JobKey waits = add_pending(snapshot, 16).key;
  const JobId other = add_pending(snapshot, 8).key.id;
  Reservation promise;
  promise.job = waits;
  promise.partition = "gpu";
  promise.gpu_type = "a100";
  promise.start = promise.promised = kNow + 3600;
  promise.made = kNow - 60;
  promise.reason = ReserveReason::kWaited;
  promise.shares = {share_of(snapshot, 0, 8), share_of(snapshot, 1, 8)};
  snapshot.memory.reservations = {promise};
  snapshot.memory.asked_resizes = {saving(job, {share_of(snapshot, 1, 8)})};
  const Plan plan = round(snapshot, Models{}, managing_all(Mode::kPlace), kNow);
  EXPECT_EQ(start_of(plan, other), nullptr);
  ASSERT_EQ(plan.reservations.size(), 1U);
  EXPECT_EQ(plan.reservations[0].start, kNow + 3600);
  ASSERT_EQ(plan.reservations[0].shares.size(), 2U);
  for (const NodeShare& share : plan.reservations[0].shares) EXPECT_EQ(share.gpu_count(), 8);
}

// What the job did so far moves to its new key in the round that first sees it waiting; its place
// is kept in this round too.
TEST(AskedResize, ItsPlaceIsKeptInTheRoundInWhichItsRecordsMove) {
  Snapshot snapshot = make_cluster({{"a100", 8}});
  const Job job = add_consenting(snapshot);
  Snapshot later = make_cluster({{"a100", 8}});
  later.memory.asked_resizes = {requeued(snapshot, job)};
  Service service;
  service.job = job.key;
  service.updated = kNow - 10;
  later.memory.service = {service};
  Job& again = add_pending(later, 8);
  again.key = {job.key.id, kNow - 2};
  again.hints = job.hints;
  again.restarts = 1;
  add_running(later, {share_of(later, 0, 6)}, kNow + 60);  // on a part of its place
  const Plan plan = round(later, Models{}, managing_all(Mode::kPlace), kNow);
  ASSERT_EQ(plan.reservations.size(), 1U);
  EXPECT_EQ(plan.reservations[0].job, (JobKey{job.key.id, kNow - 2}));
  EXPECT_EQ(plan.reservations[0].made, kNow - 5);
}

TEST(AskedResize, IsClosedWhenTheJobRunsEndsOrWaitsTooLong) {
  Snapshot snapshot = make_cluster({{"a100", 8}});
  const Job job = add_consenting(snapshot);
  const auto step_after = [&](const Snapshot& later, AskedResize restart) {
    Memory memory;
    memory.asked_resizes = {std::move(restart)};
    (void)follow_resizes(memory, later);
    return memory.asked_resizes[0];
  };
  Snapshot runs = make_cluster({{"a100", 8}});
  Job& again = add_running(runs, {share_of(runs, 0, 4)}, kNow + 3600);
  again.key = {job.key.id, kNow - 3};
  again.restarts = 1;
  EXPECT_EQ(step_after(runs, requeued(snapshot, job)).step, ResizeStep::kDone);
  AskedResize wrong = requeued(snapshot, job);
  wrong.gpus = 8;
  EXPECT_EQ(step_after(runs, wrong).words, "it started with 4 GPUs");

  const Snapshot gone = make_cluster({{"a100", 8}});
  EXPECT_EQ(step_after(gone, requeued(snapshot, job)).step, ResizeStep::kRequeued);
  AskedResize late = requeued(snapshot, job);
  late.due = kNow;
  EXPECT_EQ(step_after(gone, late).step, ResizeStep::kFailed);
  AskedResize saving = requeued(snapshot, job);
  saving.step = ResizeStep::kSaving;
  EXPECT_EQ(step_after(gone, saving).words, "the job ended");
  EXPECT_EQ(step_after(snapshot, saving).step, ResizeStep::kSaving);
}

TEST(AskedResize, EndedOnesAreForgotten) {
  const Snapshot snapshot = make_cluster({{"a100", 8}});
  Memory memory;
  AskedResize restart;
  restart.step = ResizeStep::kFailed;
  restart.since = restart.asked = kNow - kResizeKeep + 1;
  memory.asked_resizes = {restart};
  (void)follow_resizes(memory, snapshot);
  EXPECT_EQ(memory.asked_resizes.size(), 1);
  restart.since = restart.asked = kNow - kResizeKeep;
  memory.asked_resizes = {restart};
  (void)follow_resizes(memory, snapshot);
  EXPECT_TRUE(memory.asked_resizes.empty());
  restart.asked -= 60;  // a long try keeps the job out of the market for longer
  memory.asked_resizes = {restart};
  (void)follow_resizes(memory, snapshot);
  EXPECT_EQ(memory.asked_resizes.size(), 1);
  restart.since -= 60;
  restart.asked -= 60;
  memory.asked_resizes = {restart};
  (void)follow_resizes(memory, snapshot);
  EXPECT_TRUE(memory.asked_resizes.empty());
}

}  // namespace
}  // namespace rubato
