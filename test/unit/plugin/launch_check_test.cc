// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/launch_check.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "lib/base/clock.h"
#include "test/support/fake_core.h"
#include "test/support/small_snapshot.h"

namespace rubato {
namespace {

class LaunchCheckTest : public ::testing::Test {
 protected:
  LaunchCheckTest() {
    test::core().asked_nodes.clear();
    test::core().silent_nodes.clear();
    test::core().shutting_down = false;
    config_.mode = Mode::kPlace;
    seen_ = running_at(9'999);
  }

  static Snapshot running_at(Seconds start) {
    Snapshot seen = test::small_snapshot(1);
    seen.taken = 10'000;
    Job& job = seen.jobs.at(0);
    job.state = JobState::kRunning;
    job.start = start;
    job.allocation = {{.node = 0, .cores = 1, .memory = 0, .gpus = {{"a100", 1}}}};
    return seen;
  }

  /// The process has seen no job at its start, and a quarter of an hour later one that runs for
  /// `ran` seconds.
  void see_later(Seconds ran) {
    seen_.jobs.clear();
    check_.look(seen_, times_);
    seen_ = running_at(11'000 - ran);
    seen_.taken = 11'000;
    check_.look(seen_, times_);
  }

  std::vector<std::string> asked(Seconds after) {
    test::core().asked_nodes.clear();
    check_.act(config_, times_, seen_.taken + after);
    return test::core().asked_nodes;
  }

  [[nodiscard]] std::string first() const { return seen_.nodes[NodeIndex(0)].name; }

  using Nodes = std::vector<std::string>;

  Config config_;
  Snapshot seen_;
  LockTimes times_{std::make_shared<SystemClock>()};
  LaunchCheck check_;
};

TEST_F(LaunchCheckTest, AsksTheNodeOnceTheJobHadItsTimeToStart) {
  check_.look(seen_, times_);
  EXPECT_EQ(asked(20), Nodes{});
  EXPECT_EQ(asked(22), Nodes{first()});
  EXPECT_EQ(asked(60), Nodes{}) << "once";
}

TEST_F(LaunchCheckTest, AsksANodeOfTwoJobsOnce) {
  seen_.jobs.push_back(seen_.jobs.at(0));
  check_.look(seen_, times_);
  EXPECT_EQ(asked(22), Nodes{first()});
}

TEST_F(LaunchCheckTest, AsksTheNodeOfTheBatchScript) {
  seen_.nodes.push_back(seen_.nodes[NodeIndex(0)]);
  seen_.nodes.back().name = "batch";
  seen_.jobs.at(0).batch_node = NodeIndex(seen_.nodes.size() - 1);
  check_.look(seen_, times_);
  EXPECT_EQ(asked(22), Nodes{"batch"});
}

TEST_F(LaunchCheckTest, LeavesOutJobsThatStartedLongBeforeOrLater) {
  seen_.jobs.at(0).start = seen_.taken - 2001;
  check_.look(seen_, times_);
  seen_.taken += 6;
  seen_.jobs.at(0).start = seen_.taken;
  check_.look(seen_, times_);  // this process has started it, once the nodes were ready
  EXPECT_EQ(asked(60), Nodes{});
}

TEST_F(LaunchCheckTest, AsksForJobsThatStartRightAfterTheProcess) {
  seen_.jobs.at(0).state = JobState::kPending;
  check_.look(seen_, times_);
  seen_.taken += 4;
  seen_.jobs.at(0).state = JobState::kRunning;
  seen_.jobs.at(0).start = seen_.taken;
  check_.look(seen_, times_);
  EXPECT_EQ(asked(21), Nodes{});
  EXPECT_EQ(asked(22), Nodes{first()});
}

TEST_F(LaunchCheckTest, AfterAReconfigureAsksForJobsThatStartedShortlyBefore) {
  see_later(20);
  EXPECT_EQ(asked(60), Nodes{}) << "no reconfigure";
  check_.reconfigured(seen_.taken += 100);
  seen_.jobs.at(0).start += 100;
  check_.look(seen_, times_);
  EXPECT_EQ(asked(21), Nodes{});
  EXPECT_EQ(asked(22), Nodes{first()});
}

TEST_F(LaunchCheckTest, AfterAReconfigureLeavesOutJobsThatStartedLongBefore) {
  see_later(21);
  check_.reconfigured(seen_.taken);
  check_.look(seen_, times_);
  EXPECT_EQ(asked(60), Nodes{});
}

TEST_F(LaunchCheckTest, AsksForEachJobInItsTimeHoweverOftenSlurmctldIsReconfigured) {
  for (int i = 0; i < 20; ++i) {
    check_.reconfigured(seen_.taken);
    check_.look(seen_, times_);
    ++seen_.taken;
  }
  seen_.taken = 10'000;
  EXPECT_EQ(asked(22), Nodes{first()});
}

TEST_F(LaunchCheckTest, LeavesOutWaitingJobs) {
  seen_.jobs.at(0).state = JobState::kPending;
  check_.look(seen_, times_);
  EXPECT_EQ(asked(60), Nodes{});
}

TEST_F(LaunchCheckTest, LeavesOutJobsOfSalloc) {
  seen_.jobs.at(0).batch = false;
  check_.look(seen_, times_);
  EXPECT_EQ(asked(60), Nodes{});
}

TEST_F(LaunchCheckTest, AsksANodeThatDoesNotRespondAgainForTenMinutes) {
  test::core().silent_nodes = {first()};
  check_.look(seen_, times_);
  EXPECT_EQ(asked(22), Nodes{});
  test::core().silent_nodes.clear();
  EXPECT_EQ(asked(26), Nodes{}) << "five seconds between two messages";
  EXPECT_EQ(asked(27), Nodes{first()});
  test::core().silent_nodes = {first()};
}

TEST_F(LaunchCheckTest, GivesUpANodeThatDoesNotRespond) {
  test::core().silent_nodes = {first()};
  check_.look(seen_, times_);
  EXPECT_EQ(asked(22), Nodes{});
  test::core().silent_nodes.clear();
  EXPECT_EQ(asked(700), Nodes{});
}

TEST_F(LaunchCheckTest, AsksNothingWhileSlurmctldEnds) {
  test::core().shutting_down = true;
  check_.look(seen_, times_);
  EXPECT_EQ(asked(22), Nodes{});
  test::core().shutting_down = false;
  EXPECT_EQ(asked(23), Nodes{first()});
}

TEST_F(LaunchCheckTest, AsksFiftyNodesAtATime) {
  const Node node = seen_.nodes[NodeIndex(0)];
  const Job job = seen_.jobs.at(0);
  for (int i = 0; i < 70; ++i) {
    seen_.nodes.push_back(node);
    seen_.nodes.back().name = "more" + std::to_string(i);
    seen_.jobs.push_back(job);
    seen_.jobs.back().allocation.front().node = NodeIndex(seen_.nodes.size() - 1);
  }
  check_.look(seen_, times_);
  EXPECT_EQ(asked(22).size(), 50U);
  EXPECT_EQ(asked(27).size(), 21U);
}

TEST_F(LaunchCheckTest, FiftySilentNodesHoldUpNoOther) {
  const Node node = seen_.nodes[NodeIndex(0)];
  const Job job = seen_.jobs.at(0);
  std::set<std::string> silent;
  for (int i = 0; i < 50; ++i) {
    seen_.nodes.push_back(node);
    seen_.nodes.back().name = "a" + std::to_string(i);
    silent.insert(seen_.nodes.back().name);
    seen_.jobs.push_back(job);
    seen_.jobs.back().allocation.front().node = NodeIndex(seen_.nodes.size() - 1);
  }
  test::core().silent_nodes = silent;
  check_.look(seen_, times_);
  EXPECT_EQ(asked(22), Nodes{});
  EXPECT_EQ(asked(27), Nodes{first()});
}

TEST_F(LaunchCheckTest, SeesAStartThatOnlyALaterSnapshotShows) {
  seen_.jobs.at(0).state = JobState::kPending;
  check_.look(seen_, times_);
  seen_.taken += 10;
  seen_.jobs.at(0).state = JobState::kRunning;
  seen_.jobs.at(0).start = 10'003;
  check_.look(seen_, times_);
  EXPECT_EQ(asked(22), Nodes{first()});
}

TEST_F(LaunchCheckTest, FollowsAClockThatIsSetBack) {
  check_.look(seen_, times_);
  EXPECT_EQ(asked(1), Nodes{});
  EXPECT_EQ(asked(-3600), Nodes{});
  EXPECT_EQ(asked(-3600 + 20), Nodes{});
  EXPECT_EQ(asked(-3600 + 21), Nodes{first()});
}

TEST_F(LaunchCheckTest, AsksNothingInModeObserveOrSwitchedOff) {
  config_.mode = Mode::kObserve;
  check_.look(seen_, times_);
  EXPECT_EQ(asked(60), Nodes{});
  LaunchCheck other;
  other.look(seen_, times_);
  config_.mode = Mode::kPlace;
  config_.test_off.insert(Mechanism::kLaunch);
  other.act(config_, times_, seen_.taken + 60);
  EXPECT_EQ(test::core().asked_nodes, Nodes{});
}

}  // namespace
}  // namespace rubato
