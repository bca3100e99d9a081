// SPDX-License-Identifier: GPL-2.0-or-later
// The steps of a restart with a fake slurmctld, for what a live one cannot be driven into.
#include "plugin/actuate/restart.h"

#include <gtest/gtest.h>

#include <memory>

#include "test/support/build_snapshot.h"
#include "test/support/fake_core.h"

namespace rubato {
namespace {

using test::add_consenting;
using test::core;
using test::kNow;
using test::make_cluster;
using test::managing_all;

class RestarterTest : public ::testing::Test {
 protected:
  RestarterTest() {
    core().signals = core().requeues = core().made_eligible = 0;
    core().requeue_error.clear();
    core().shutting_down = false;
    key_ = add_consenting(snapshot_).key;
  }

  void say(Message message) {
    std::vector<JobMessage> messages{{.job = key_, .message = std::move(message)}};
    restarter_.hear(messages);
    EXPECT_TRUE(messages.empty());
  }
  void act_at(Seconds now) {
    snapshot_.taken = now;
    restarter_.act(snapshot_, Models{}, managing_all(Mode::kPlace), memory_);
  }
  AskedRestart& restart() { return memory_.asked_restarts.at(0); }

  std::shared_ptr<const Clock> clock_ = std::make_shared<SystemClock>();
  AuditLog audit_{"/dev/null", clock_};
  LockTimes times_{clock_};
  Restarter restarter_{audit_, times_};
  Snapshot snapshot_ = make_cluster({{"a100", 8}});
  Memory memory_;
  JobKey key_;
};

TEST_F(RestarterTest, SignalsWaitsAndRequeues) {
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  EXPECT_EQ(core().signals, 1);
  EXPECT_EQ(restart().step, RestartStep::kSaving);
  EXPECT_FALSE(restarter_.due(memory_, kNow + 59));
  act_at(kNow + 59);
  EXPECT_EQ(core().requeues, 0);
  EXPECT_TRUE(restarter_.due(memory_, kNow + 60));
  act_at(kNow + 60);
  EXPECT_EQ(core().requeues, 1);
  EXPECT_EQ(restart().step, RestartStep::kRequeued);
  EXPECT_FALSE(restart().shares.empty());
}

TEST_F(RestarterTest, AnAnswerEndsTheLeadTimeAndARefusalTheRestart) {
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  say(Ack{.notice = 1, .ready = false});
  act_at(kNow + 1);
  EXPECT_EQ(restart().words, "the job refused");
  EXPECT_EQ(core().requeues, 0);
  say(ResizeRequest{.gpus = 4});
  act_at(kNow + 2);
  say(Ack{.notice = 1});
  act_at(kNow + 3);
  EXPECT_EQ(core().requeues, 1);
}

TEST_F(RestarterTest, ConsentCanBeWithdrawnUntilTheRequeue) {
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  snapshot_.jobs[0].hints->checkpoint.signal = 0;
  act_at(kNow + 60);
  EXPECT_EQ(restart().step, RestartStep::kFailed);
  EXPECT_NE(restart().words.find("did not consent"), std::string::npos);
  EXPECT_EQ(core().requeues, 0);
}

TEST_F(RestarterTest, ARequeueThatSlurmRefusesLeavesTheJobRunning) {
  core().requeue_error = "Requested operation is presently disabled";
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  act_at(kNow + 60);
  EXPECT_EQ(restart().words,
            "Slurm does not requeue it: Requested operation is presently disabled");
}

TEST_F(RestarterTest, ASecondRequestMeanwhileChangesNothing) {
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  say(ResizeRequest{.gpus = 4});
  act_at(kNow + 1);
  EXPECT_EQ(core().signals, 1);
  EXPECT_EQ(memory_.asked_restarts.size(), 1);
  EXPECT_EQ(restart().step, RestartStep::kSaving);
}

TEST_F(RestarterTest, AChangeOfTheModeGivesUp) {
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  act_at(kNow + 60);
  restarter_.give_up(memory_, kNow + 61);
  EXPECT_EQ(core().made_eligible, 1);
  EXPECT_EQ(restart().step, RestartStep::kFailed);
}

}  // namespace
}  // namespace rubato
