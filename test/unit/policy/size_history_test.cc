// SPDX-License-Identifier: GPL-2.0-or-later
// What a restarted job hears: why it runs again, and how often its size changed.
#include "lib/policy/algorithms/size_history.h"

#include <gtest/gtest.h>

#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::add_consenting;
using test::kNow;
using test::make_cluster;
using test::share_of;

class SizeHistoryTest : public ::testing::Test {
 protected:
  SizeHistoryTest() : snapshot_(make_cluster({{"a100", 8}})) { add_consenting(snapshot_); }

  Job& job() { return snapshot_.jobs.at(0); }
  Plan decide() {
    Plan plan = round(snapshot_, {}, test::managing_all(Mode::kPlace), snapshot_.taken);
    snapshot_.memory = plan.memory;
    snapshot_.taken += 10;
    return plan;
  }
  /// The job was requeued and waits; `change` did it, if any.
  void requeue(const AskedResize* change) {
    snapshot_.nodes = make_cluster({{"a100", 8}}).nodes;
    job().state = JobState::kPending;
    job().allocation.clear();
    job().node_set = 0;
    job().start = job().end_limit = 0;
    job().key.submit = snapshot_.taken;
    ++job().restarts;
    if (change != nullptr) snapshot_.memory.asked_resizes = {*change};
  }
  AskedResize restart_to(int gpus) {
    AskedResize change;
    change.job = job().key;
    change.from = 8;
    change.gpus = gpus;
    change.runs = job().restarts;
    change.step = ResizeStep::kRequeued;
    change.gpu_type = "a100";
    change.asked = change.since = change.requeued = snapshot_.taken;
    change.due = snapshot_.taken + 120;
    change.shares = {share_of(snapshot_, 0, gpus)};
    return change;
  }
  void run_with(int gpus) {
    job().state = JobState::kRunning;
    job().allocation = {share_of(snapshot_, 0, gpus)};
    test::occupy(snapshot_, job().allocation[0]);
    job().start = snapshot_.taken;
    job().end_limit = snapshot_.taken + 3600;
    for (AskedResize& change : snapshot_.memory.asked_resizes) change.step = ResizeStep::kDone;
  }
  static std::pair<RestartReason, int> told(const Plan& plan) {
    if (plan.starts.size() != 1) return {RestartReason::kNone, -1};
    return {plan.starts[0].restart_reason, plan.starts[0].resizes};
  }

  Snapshot snapshot_;
};

TEST_F(SizeHistoryTest, ARestartOnRequestIsNamedAndCountedAtItsStart) {
  (void)decide();
  AskedResize change = restart_to(4);
  requeue(&change);
  EXPECT_EQ(told(decide()), std::pair(RestartReason::kResize, 1));
  run_with(4);
  ASSERT_EQ(decide().memory.size_histories.size(), 1);
  EXPECT_EQ(snapshot_.memory.size_histories[0].resizes, 1);
  EXPECT_EQ(snapshot_.memory.size_histories[0].gpus, 4);
}

TEST_F(SizeHistoryTest, ARestartOfTheRoundAtTheSameSizeIsNoChangeOfTheSize) {
  (void)decide();
  AskedResize change = restart_to(8);
  change.by_round = true;
  requeue(&change);
  EXPECT_EQ(told(decide()), std::pair(RestartReason::kRound, 0));
}

TEST_F(SizeHistoryTest, ARehearsalIsNamed) {
  (void)decide();
  AskedResize change = restart_to(8);
  change.rehearsal = true;
  requeue(&change);
  EXPECT_EQ(told(decide()), std::pair(RestartReason::kRehearsal, 0));
}

TEST_F(SizeHistoryTest, AJobThatTheRoundStoppedKnowsThatWhenItsRecordIsForgotten) {
  (void)decide();
  AskedResize change = restart_to(8);
  change.by_round = true;
  change.gpus = 0;
  change.shares.clear();
  requeue(&change);
  job().block = Block::kLimit;
  EXPECT_TRUE(decide().starts.empty());
  snapshot_.memory.asked_resizes.clear();
  (void)decide();
  job().block = Block::kNone;
  EXPECT_EQ(told(decide()), std::pair(RestartReason::kRound, 0));
}

TEST_F(SizeHistoryTest, ALaterRequeueBySomebodyElseIsOne) {
  (void)decide();
  AskedResize change = restart_to(4);
  requeue(&change);
  (void)decide();
  run_with(4);
  (void)decide();
  requeue(nullptr);
  // It has its submitted size again.
  EXPECT_EQ(told(decide()), std::pair(RestartReason::kRequeue, 2));
}

TEST_F(SizeHistoryTest, AFirstStartHasNoReason) {
  requeue(nullptr);
  job().restarts = 0;
  EXPECT_EQ(told(decide()), std::pair(RestartReason::kNone, 0));
}

TEST_F(SizeHistoryTest, AChangeWhileTheJobRunsCounts) {
  (void)decide();
  snapshot_.nodes = make_cluster({{"a100", 8}}).nodes;
  run_with(4);
  EXPECT_EQ(decide().memory.size_histories.at(0).resizes, 1);
}

TEST_F(SizeHistoryTest, KeepsWhatTheJobWasTold) {
  (void)decide();
  note_told(snapshot_.memory, job().key, "zero", 512, kNow);
  AskedResize change;
  change.job = job().key;
  note_told_with(change, snapshot_.memory, kNow + 1);
  EXPECT_EQ(told_at(snapshot_.memory, job().key), kNow) << "it was told nothing";
  change.batch = 1024;
  note_told_with(change, snapshot_.memory, kNow + 1);
  (void)decide();
  EXPECT_EQ(told_at(snapshot_.memory, job().key), kNow + 1);
  fill_told(snapshot_);
  EXPECT_EQ(job().plan, "zero");
  EXPECT_EQ(job().batch_size, 1024);
  EXPECT_EQ(told_at(snapshot_.memory, {77, kNow}), 0);
}

TEST_F(SizeHistoryTest, ABatchThatWasNotToldIsThatOfTheLastReport) {
  (void)decide();
  snapshot_.memory.progress = {{.job = job().key, .time = kNow, .batch = 64}};
  fill_told(snapshot_);
  EXPECT_EQ(job().batch_size, 64);
}

TEST_F(SizeHistoryTest, AStartTellsItsPlanAndBatch) {
  requeue(nullptr);
  note_told(snapshot_.memory, job().key, "zero", 512, kNow);
  Plan plan = decide();
  ASSERT_EQ(plan.starts.size(), 1U);
  run_with(plan.starts[0].gpus);
  (void)decide();
  fill_told(snapshot_);
  EXPECT_EQ(job().plan, "") << "the start chose none";
  EXPECT_EQ(job().batch_size, 0);
}

TEST_F(SizeHistoryTest, OnlyJobsThatMayChangeHaveOne) {
  job().hints->resize = Resize::kNone;
  EXPECT_TRUE(decide().memory.size_histories.empty());
}

TEST_F(SizeHistoryTest, AJobThatIsGoneForLongIsForgotten) {
  (void)decide();
  snapshot_.jobs.clear();
  EXPECT_EQ(decide().memory.size_histories.size(), 1);
  snapshot_.taken += 1000;
  EXPECT_TRUE(decide().memory.size_histories.empty());
}

}  // namespace
}  // namespace rubato
