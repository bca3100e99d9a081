// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/run_log.h"

#include <gtest/gtest.h>

#include "lib/store/run_text.h"
#include "test/support/build_snapshot.h"

namespace rubato::test {
namespace {

class RunLogTest : public ::testing::Test {
 protected:
  RunLogTest() : cluster_(make_cluster({{"a100", 4}, {"a100", 4}})) {
    cluster_.node_sets.push_back({1});
    cluster_.partitions = {{"cpu", 1, false, 1}, {"gpu", 1, true, 2}};
    cluster_.node_sets.push_back({0});
  }

  // A job as it waits, blocked or not.
  Snapshot waiting(Seconds taken, Block block = Block::kNone) const {
    Snapshot snapshot = cluster_;
    snapshot.taken = taken;
    Job& job = add_pending(snapshot, 1);
    job.key = kKey;
    job.block = block;
    return snapshot;
  }

  // The same job as it runs on a node.
  Snapshot running(Seconds taken, Seconds start, NodeIndex node = 0) const {
    Snapshot snapshot = cluster_;
    Job& job = add_running(snapshot, {share_of(snapshot, node, 1)}, start + 3600);
    job.key = kKey;
    job.start = start;
    job.eligible = kNow - 60;
    snapshot.taken = taken;
    return snapshot;
  }

  Snapshot empty(Seconds taken) const {
    Snapshot snapshot = cluster_;
    snapshot.taken = taken;
    return snapshot;
  }

  std::vector<store::RunRecord> see(const Snapshot& snapshot) {
    return log_.update(snapshot, running_.update(snapshot), running_, mode_);
  }

  static constexpr JobKey kKey{7, kNow - 60};
  Snapshot cluster_;
  Mode mode_ = Mode::kObserve;
  RunningJobs running_;
  RunLog log_;
};

TEST_F(RunLogTest, a_run_is_recorded_at_its_start_and_at_its_end) {
  EXPECT_TRUE(see(waiting(kNow)).empty());
  const Snapshot first = running(kNow + 2, kNow + 1);
  const auto begun = see(first);
  ASSERT_EQ(begun.size(), 1U);
  EXPECT_EQ(begun[0], (store::RunRecord{.job = kKey,
                                        .start = kNow + 1,
                                        .enters = kNow - 60,
                                        .text = sim::run_text(first.jobs.back(), first, mode_)}));
  EXPECT_TRUE(see(running(kNow + 3, kNow + 1)).empty());
  const auto ended = see(empty(kNow + 50));
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0], (store::RunRecord{.job = kKey, .start = kNow + 1, .end = kNow + 50}));
  EXPECT_TRUE(see(empty(kNow + 51)).empty());
}

TEST_F(RunLogTest, a_job_enters_when_slurm_lets_go_of_it) {
  (void)see(waiting(kNow, Block::kLimit));
  (void)see(waiting(kNow + 20, Block::kLimit));
  (void)see(waiting(kNow + 30));
  const auto begun = see(running(kNow + 40, kNow + 39));
  ASSERT_EQ(begun.size(), 1U);
  EXPECT_EQ(begun[0].enters, kNow + 20);
}

TEST_F(RunLogTest, it_never_enters_after_its_start) {
  (void)see(waiting(kNow + 20, Block::kLimit));
  const auto begun = see(running(kNow + 21, kNow + 19));
  ASSERT_EQ(begun.size(), 1U);
  EXPECT_EQ(begun[0].enters, kNow + 19);
}

TEST_F(RunLogTest, jobs_elsewhere_are_not_recorded) {
  EXPECT_TRUE(see(running(kNow + 2, kNow + 1, 1)).empty());
  EXPECT_TRUE(see(empty(kNow + 50)).empty());
}

TEST_F(RunLogTest, the_mode_it_began_in_is_kept) {
  const auto observed = see(running(kNow + 2, kNow + 1));
  ASSERT_EQ(observed.size(), 1U);
  EXPECT_EQ(sim::mode_of_run(observed[0].text), Mode::kObserve);
  mode_ = Mode::kPlace;
  EXPECT_TRUE(see(running(kNow + 3, kNow + 1)).empty());
  ASSERT_EQ(see(waiting(kNow + 10)).size(), 1U);
  const auto placed = see(running(kNow + 30, kNow + 29));
  ASSERT_EQ(placed.size(), 1U);
  EXPECT_EQ(sim::mode_of_run(placed[0].text), Mode::kPlace);
}

TEST_F(RunLogTest, a_requeued_job_has_two_runs) {
  ASSERT_EQ(see(running(kNow + 2, kNow + 1)).size(), 1U);
  ASSERT_EQ(see(waiting(kNow + 10)).size(), 1U);
  const auto again = see(running(kNow + 30, kNow + 29));
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].start, kNow + 29);
  EXPECT_FALSE(again[0].text.empty());
}

}  // namespace
}  // namespace rubato::test
