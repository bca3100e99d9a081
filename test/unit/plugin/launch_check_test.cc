// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/launch_check.h"

#include <gtest/gtest.h>

#include "lib/base/clock.h"
#include "test/support/fake_core.h"
#include "test/support/small_snapshot.h"

namespace rubato {
namespace {

class LaunchCheckTest : public ::testing::Test {
 protected:
  LaunchCheckTest() {
    test::core().asked_nodes.clear();
    test::core().shutting_down = false;
    config_.mode = Mode::kPlace;
    seen_ = test::small_snapshot(1);
    seen_.taken = 10'000;
    Job& job = seen_.jobs.at(0);
    job.state = JobState::kRunning;
    job.start = 9'999;
    job.allocation = {{.node = 0, .cores = 1, .memory = 0, .gpus = {{"a100", 1}}}};
  }

  std::vector<std::string> asked(Seconds after) {
    test::core().asked_nodes.clear();
    check_.act(config_, times_, seen_.taken + after);
    return test::core().asked_nodes;
  }

  using Nodes = std::vector<std::string>;

  Config config_;
  Snapshot seen_;
  LockTimes times_{std::make_shared<SystemClock>()};
  LaunchCheck check_;
};

TEST_F(LaunchCheckTest, AsksTheNodeOnceTheJobHadItsTimeToStart) {
  check_.look(seen_);
  EXPECT_EQ(asked(20), Nodes{});
  EXPECT_EQ(asked(22), Nodes{seen_.nodes[NodeIndex(0)].name});
  EXPECT_EQ(asked(60), Nodes{}) << "once";
}

TEST_F(LaunchCheckTest, LeavesOutJobsThatStartedLongBeforeOrLater) {
  seen_.jobs.at(0).start = 9'000;
  check_.look(seen_);
  seen_.jobs.at(0).start = seen_.taken;
  check_.look(seen_);  // this process has started it
  EXPECT_EQ(asked(60), Nodes{});
}

TEST_F(LaunchCheckTest, LeavesOutWaitingJobsAndThoseOfSalloc) {
  seen_.jobs.at(0).batch = false;
  check_.look(seen_);
  EXPECT_EQ(asked(60), Nodes{});
}

TEST_F(LaunchCheckTest, AsksNothingInModeObserve) {
  config_.mode = Mode::kObserve;
  check_.look(seen_);
  EXPECT_EQ(asked(60), Nodes{});
}

}  // namespace
}  // namespace rubato
