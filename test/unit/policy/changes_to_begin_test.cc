// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/changes_to_begin.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/policy/asked_resize.h"
#include "lib/policy/kept_place.h"
#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::add_pending;
using test::add_running;
using test::kNow;
using test::make_cluster;
using test::share_of;

/// Three nodes with 8 GPUs; job i of `running` holds node i.
class ChangesToBegin : public ::testing::Test {
 protected:
  ChangesToBegin() {
    waits_ = add_pending(snapshot_, 8).key;
    for (int i = 0; i < 3; ++i)
      running_.push_back(
          add_running(snapshot_, {share_of(snapshot_, NodeIndex{i}, 8)}, kNow + 3600).key);
  }

  Change& change(int i, ChangeAction action, std::vector<NodeShare> shares = {},
                 std::vector<JobKey> after = {}) {
    Change one;
    one.job = running_.at(static_cast<std::size_t>(i));
    one.action = action;
    for (const NodeShare& share : shares) one.gpus += share.gpu_count();
    one.shares = std::move(shares);
    one.after = std::move(after);
    plan_.changes.push_back(std::move(one));
    return plan_.changes.back();
  }
  void start(int node, std::vector<JobKey> after) {
    Start one;
    one.job = waits_;
    one.managed = true;
    one.gpu_type = "a100";
    one.shares = {share_of(snapshot_, NodeIndex{node}, 8)};
    one.after = std::move(after);
    plan_.starts.push_back(std::move(one));
  }
  /// The waiting job is to start on the first node once its job has stopped.
  void promise_place() {
    change(0, ChangeAction::kStop);
    start(0, {running_[0]});
    snapshot_.memory.asked_resizes = changes_to_begin(snapshot_, plan_);
    for (AskedResize& one : snapshot_.memory.asked_resizes) one.due = kNow + 100;
  }
  std::vector<JobKey> jobs() {
    std::vector<JobKey> found;
    for (const AskedResize& one : changes_to_begin(snapshot_, plan_)) found.push_back(one.job);
    return found;
  }

  Snapshot snapshot_ = make_cluster({{"a100", 8}, {"a100", 8}, {"a100", 8}});
  std::vector<JobKey> running_;
  JobKey waits_;
  Plan plan_;
};

TEST_F(ChangesToBegin, AStopNeedsAJobThatTakesTheNodes) {
  change(0, ChangeAction::kStop);
  EXPECT_TRUE(jobs().empty());
  start(0, {running_[0]});
  EXPECT_EQ(jobs(), (std::vector<JobKey>{waits_, running_[0]}));
  const auto all = changes_to_begin(snapshot_, plan_);
  EXPECT_TRUE(all[0].starts);
  EXPECT_EQ(all[0].step, ResizeStep::kRequeued);
  EXPECT_EQ(all[0].gpus, 8);
  EXPECT_EQ(all[0].after, std::vector<JobKey>{running_[0]});
  EXPECT_EQ(all[1].gpus, 0);
  EXPECT_EQ(all[1].from, 8);
}

TEST_F(ChangesToBegin, TwoJobsExchangeTheirNodes) {
  change(0, ChangeAction::kRestart, {share_of(snapshot_, 1, 8)}, {running_[1]});
  change(1, ChangeAction::kRestart, {share_of(snapshot_, 0, 8)}, {running_[0]});
  EXPECT_EQ(jobs(), (std::vector<JobKey>{running_[0], running_[1]}));
}

// Job 2 changes already for another reason: its nodes are not those that the plan means.
TEST_F(ChangesToBegin, AChainThatMissesALinkDoesNotBegin) {
  change(0, ChangeAction::kRestart, {share_of(snapshot_, 1, 8)}, {running_[1]});
  change(1, ChangeAction::kRestart, {share_of(snapshot_, 2, 8)}, {running_[2]});
  start(0, {running_[0]});
  EXPECT_TRUE(jobs().empty());
  change(2, ChangeAction::kStop);
  EXPECT_EQ(jobs(), (std::vector<JobKey>{waits_, running_[0], running_[1], running_[2]}));
  AskedResize under_way;
  under_way.job = running_[2];
  plan_.memory.asked_resizes = {under_way};
  EXPECT_TRUE(jobs().empty());
}

TEST_F(ChangesToBegin, LeavesOutNoticesAndJobsThatEnded) {
  change(0, ChangeAction::kNotify, {share_of(snapshot_, 0, 8)});
  change(1, ChangeAction::kRestart, {share_of(snapshot_, 1, 4)});
  std::erase_if(snapshot_.jobs, [&](const Job& job) { return job.key == running_[1]; });
  EXPECT_TRUE(jobs().empty());
}

TEST_F(ChangesToBegin, AGrowthHasWhatComesBesideItsOwn) {
  change(0, ChangeAction::kGrow, {share_of(snapshot_, 0, 8), share_of(snapshot_, 1, 8)},
         {running_[1]});
  change(1, ChangeAction::kStop);
  const auto all = changes_to_begin(snapshot_, plan_);
  ASSERT_EQ(all.size(), 2);
  EXPECT_TRUE(all[0].live);
  EXPECT_EQ(all[0].gpus, 16);
  EXPECT_EQ(all[0].shares, std::vector<NodeShare>{share_of(snapshot_, 1, 8)});
}

TEST_F(ChangesToBegin, FollowsWhenTheLeadTimesBeforeItAreOver) {
  AskedResize first;
  first.job = running_[0];
  first.due = kNow + 10;
  AskedResize second;
  second.job = running_[1];
  second.after = {running_[0]};
  Memory memory;
  memory.asked_resizes = {first, second};
  EXPECT_FALSE(may_follow(second, memory, kNow));
  EXPECT_TRUE(may_follow(second, memory, kNow + 10));
  memory.asked_resizes[0].step = ResizeStep::kRequeued;
  EXPECT_TRUE(may_follow(second, memory, kNow));
}

TEST_F(ChangesToBegin, APlaceCountsWhatTheOthersGiveUp) {
  AskedResize moves;
  moves.job = running_[0];
  moves.shares = {share_of(snapshot_, 1, 8)};
  EXPECT_FALSE(has_place(moves, snapshot_, {}));
  moves.after = {running_[1]};
  EXPECT_TRUE(has_place(moves, snapshot_, {}));
  Memory memory;
  AskedResize refused;
  refused.job = running_[1];
  refused.step = ResizeStep::kFailed;
  memory.asked_resizes = {refused};
  EXPECT_FALSE(has_place(moves, snapshot_, memory));
  snapshot_.nodes[1].usable = false;
  EXPECT_FALSE(has_place(moves, snapshot_, {}));
  snapshot_.nodes[1].coming = true;  // a job is completing there
  EXPECT_TRUE(has_place(moves, snapshot_, {}));
}

// A job that runs on keeps what it has: only what is free, or freed by others, counts.
TEST_F(ChangesToBegin, AGrowthWaitsForFreeGpus) {
  AskedResize grows;
  grows.job = running_[0];
  grows.live = true;
  grows.shares = {share_of(snapshot_, 1, 4)};
  grows.after = {running_[1]};
  EXPECT_TRUE(has_place(grows, snapshot_, {}));
  EXPECT_FALSE(is_free(grows.shares, snapshot_));
  snapshot_.nodes[1].gpus[0].free = 4;
  EXPECT_TRUE(is_free(grows.shares, snapshot_));
  snapshot_.nodes[1].usable = false;  // Slurm starts nothing there until all jobs have completed
  EXPECT_FALSE(is_free(grows.shares, snapshot_));
  snapshot_.nodes[1].usable = true;
  grows.shares = {share_of(snapshot_, 0, 4)};
  EXPECT_FALSE(has_place(grows, snapshot_, {}));
}

// Until the others have left its place, the waiting job starts nowhere. What is free of the place
// stays free, since a reservation would move to the end of their time limits.
TEST_F(ChangesToBegin, APlaceThatOthersLeaveIsKeptFree) {
  promise_place();
  NodeShare& held = std::ranges::find(snapshot_.jobs, running_[0], &Job::key)->allocation[0];
  held.gpus[0].count = 5;
  held.cores = 0;
  held.memory = 0;
  snapshot_.nodes[0] = test::make_node("n1", {{"a100", 8}});
  snapshot_.nodes[0].gpus[0].free = 3;
  const JobKey small = add_pending(snapshot_, 2).key;
  const auto next = with_restarts(snapshot_);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->nodes[0].gpus[0].free, 0);
  EXPECT_TRUE(next->memory.reservations.empty());
  const Plan plan = round(snapshot_, Models{}, test::managing_all(Mode::kElastic), kNow);
  EXPECT_TRUE(plan.starts.empty());
  const auto told = std::ranges::find(plan.explanations, waits_, &Explanation::job);
  ASSERT_NE(told, plan.explanations.end());
  EXPECT_EQ(told->word, "RubatoNext");
  EXPECT_EQ(told->reason,
            "starts as soon as running jobs have left the nodes that are kept for it");
  snapshot_.memory.asked_resizes.clear();
  const Plan without = round(snapshot_, Models{}, test::managing_all(Mode::kElastic), kNow);
  ASSERT_EQ(without.starts.size(), 1);
  EXPECT_EQ(without.starts[0].job, small);
}

// Then it is first in the queue and has this size only; the place is taken for others.
TEST_F(ChangesToBegin, APromisedJobIsPinnedToItsPlace) {
  promise_place();
  std::erase_if(snapshot_.jobs, [&](const Job& job) { return job.key == running_[0]; });
  snapshot_.nodes[0] = test::make_node("n1", {{"a100", 8}});
  const auto next = with_restarts(snapshot_);
  ASSERT_TRUE(next);
  ASSERT_EQ(next->memory.reservations.size(), 1);
  EXPECT_EQ(next->memory.reservations[0].job, waits_);
  EXPECT_EQ(next->memory.reservations[0].shares, plan_.starts[0].shares);
  const Plan plan = round(snapshot_, Models{}, test::managing_all(Mode::kElastic), kNow);
  ASSERT_EQ(plan.starts.size(), 1);
  EXPECT_FALSE(plan.starts[0].elsewhere);
  std::erase_if(snapshot_.jobs, [&](const Job& job) { return job.key == waits_; });
  Memory memory = snapshot_.memory;
  const auto closed = follow_resizes(memory, snapshot_);
  const auto start = std::ranges::find(closed, waits_, &AskedResize::job);
  ASSERT_NE(start, closed.end());
  EXPECT_EQ(start->words, "the job is not there any more");
}

// A node that goes down cannot be waited for: then the job may start on others.
TEST_F(ChangesToBegin, APlaceThatIsLostIsNotWaitedFor) {
  promise_place();
  std::erase_if(snapshot_.jobs, [&](const Job& job) { return job.key != waits_; });
  for (int i = 0; i < 3; ++i)
    snapshot_.nodes[NodeIndex{i}] = test::make_node("n" + std::to_string(i + 1), {{"a100", 8}});
  snapshot_.nodes[0].usable = false;
  const Plan plan = round(snapshot_, Models{}, test::managing_all(Mode::kElastic), kNow);
  ASSERT_EQ(plan.starts.size(), 1);
  EXPECT_NE(plan.starts[0].shares[0].node, NodeIndex{0});
  snapshot_.nodes[0].coming = true;  // its last job is completing
  EXPECT_TRUE(round(snapshot_, Models{}, test::managing_all(Mode::kElastic), kNow).starts.empty());
}

// Its GPUs stay with the job that refused to change; others may be free.
TEST_F(ChangesToBegin, APlaceThatDoesNotBecomeFreeIsNotKept) {
  promise_place();
  Memory memory = snapshot_.memory;
  EXPECT_TRUE(follow_resizes(memory, snapshot_).empty());
  for (AskedResize& one : memory.asked_resizes)
    if (one.job == running_[0]) one.step = ResizeStep::kFailed;
  const auto closed = follow_resizes(memory, snapshot_);
  ASSERT_EQ(closed.size(), 1);
  EXPECT_EQ(closed[0].job, waits_);
  snapshot_.memory = memory;
  EXPECT_FALSE(with_restarts(snapshot_));
}

}  // namespace
}  // namespace rubato
