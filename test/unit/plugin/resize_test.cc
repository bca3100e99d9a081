// SPDX-License-Identifier: GPL-2.0-or-later
// The steps of a restart with a fake slurmctld, for what a live one cannot be driven into.
#include "plugin/actuate/resize.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "lib/policy/algorithms/size_history.h"
#include "lib/runtime/restart_record.h"
#include "plugin/select/gate.h"
#include "test/support/build_snapshot.h"
#include "test/support/fake_clock.h"
#include "test/support/fake_core.h"

namespace rubato {
namespace {

using test::add_consenting;
using test::core;
using test::kNow;
using test::make_cluster;
using test::managing_all;

class ResizerTest : public ::testing::Test {
 protected:
  ResizerTest() {
    std::filesystem::create_directory(folder_);
    core().signals = core().requeues = core().made_eligible = 0;
    core().eligible_at = 0;
    core().requeue_error.clear();
    core().shrunk_to.clear();
    core().grown_by.clear();
    core().growth_error.clear();
    core().notices.clear();
    core().has_steps = true;
    core().runs_on = false;
    core().has_ended = false;
    core().shutting_down = false;
    key_ = add_consenting(snapshot_).key;
  }

  ~ResizerTest() override { std::filesystem::remove_all(folder_); }

  void say(Message message) {
    std::vector<JobMessage> messages{{.job = key_, .message = std::move(message)}};
    resizer_.hear(messages);
    EXPECT_TRUE(messages.empty());
  }
  void act_at(Seconds now) {
    snapshot_.taken = now;
    resizer_.act(snapshot_, Models{}, managing_all(Mode::kPlace), plan_);
  }
  /// The round decides a change of the job in the next act_at().
  void decide(ChangeAction action, int gpus) {
    Change change;
    change.job = key_;
    change.action = action;
    change.gpus = gpus;
    if (gpus > 0) change.gpu_type = "a100";
    plan_.changes = {change};
  }
  /// A waiting job starts on the nodes that the job gives up.
  void decide_start() {
    Start start;
    start.job = test::add_pending(snapshot_, 8).key;
    start.managed = true;
    start.shares = {test::share_of(snapshot_, 0, 8)};
    start.after = {key_};
    plan_.starts = {start};
  }
  /// Two nodes, and the job with GPUs of each node and resize=live.
  void make_live(const std::vector<std::pair<NodeIndex, int>>& shares) {
    Snapshot next = make_cluster({{"a100", 8}, {"a100", 8}});
    Job job = snapshot_.jobs[0];
    job.allocation.clear();
    for (const auto& [node, gpus] : shares) {
      job.allocation.push_back(test::share_of(next, node, gpus));
      test::occupy(next, job.allocation.back());
    }
    job.hints->resize = Resize::kLive;
    next.jobs.push_back(std::move(job));
    snapshot_ = std::move(next);
  }
  AskedResize& restart() { return memory_.asked_resizes.at(0); }

  std::shared_ptr<const Clock> clock_ = std::make_shared<test::FakeClock>(kNow);
  AuditLog audit_{"/dev/null", clock_};
  LockTimes times_{clock_};
  Gate gate_;
  std::string folder_ = testing::TempDir() + "/resizer" + std::to_string(getpid());
  Resizer resizer_{gate_, audit_, times_, folder_};
  Snapshot snapshot_ = make_cluster({{"a100", 8}});
  Plan plan_;
  Memory& memory_ = plan_.memory;
  JobKey key_;
};

TEST_F(ResizerTest, SignalsWaitsAndRequeues) {
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  EXPECT_EQ(core().signals, 1);
  EXPECT_EQ(restart().step, ResizeStep::kSaving);
  EXPECT_FALSE(resizer_.due(memory_, kNow + 60));
  act_at(kNow + 60);
  EXPECT_EQ(core().requeues, 0);
  EXPECT_TRUE(resizer_.due(memory_, kNow + 61));
  act_at(kNow + 61);
  EXPECT_EQ(core().requeues, 1);
  EXPECT_EQ(restart().step, ResizeStep::kRequeued);
  EXPECT_FALSE(restart().shares.empty());
}

// So a kill of slurmctld after the requeue loses neither size nor place.
TEST_F(ResizerTest, WritesARestartBeforeTheRequeue) {
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  Memory recalled;
  recall_restarts(folder_, snapshot_, recalled);
  EXPECT_TRUE(recalled.asked_resizes.empty());
  core().requeue_error = "not reached";
  act_at(kNow + 61);
  EXPECT_EQ(core().requeues, 0);
  recall_restarts(folder_, snapshot_, recalled);
  ASSERT_EQ(recalled.asked_resizes.size(), 1);
  EXPECT_EQ(recalled.asked_resizes[0].gpus, 4);
  EXPECT_FALSE(recalled.asked_resizes[0].shares.empty());
}

TEST_F(ResizerTest, AnAnswerEndsTheLeadTimeAndARefusalTheRestart) {
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  say(Ack{.notice = 1, .ready = false});
  act_at(kNow + 1);
  EXPECT_EQ(restart().words, "the job refused");
  EXPECT_EQ(core().requeues, 0);
  say(ResizeRequest{.gpus = 4});
  act_at(kNow + 2);
  say(Ack{.notice = core().notices.back().number});
  act_at(kNow + 3);
  EXPECT_EQ(core().requeues, 1);
}

// It comes with the signal, so the job finds it when it looks.
TEST_F(ResizerTest, TheNoticeOfARestartGoesWithTheRun) {
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  const Notice coming{.number = 1, .from = 8, .gpus = 4, .due = kNow + 61};
  EXPECT_EQ(core().notices, std::vector<Notice>{coming});
  EXPECT_EQ(restart().notice, 1);
  act_at(kNow + 61);
  EXPECT_TRUE(core().notices.empty());
}

TEST_F(ResizerTest, TheNoticesOfAShrinkNameTheNodesThatGo) {
  make_live({{0, 4}, {1, 4}});
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  act_at(kNow + 61);
  ASSERT_EQ(core().notices.size(), 2);
  EXPECT_EQ(core().notices[0].step, NoticeStep::kComing);
  EXPECT_EQ(core().notices[0].leave, "n2");
  EXPECT_EQ(core().notices[0].due, kNow + 61);
  EXPECT_EQ(core().notices[1].step, NoticeStep::kDone);
  EXPECT_EQ(core().notices[1].leave, "n2");
  EXPECT_TRUE(core().notices[1].live);
}

TEST_F(ResizerTest, NoOtherNodesGoThanTheJobWasTold) {
  make_live({{0, 4}, {1, 4}});
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  std::vector<NodeShare>& held = snapshot_.jobs[0].allocation;
  held.erase(held.begin());  // an admin took the node that it was to keep
  held.push_back(test::share_of(snapshot_, 0, 3));
  act_at(kNow + 61);
  EXPECT_TRUE(core().shrunk_to.empty());
  EXPECT_EQ(restart().words, "after its lead time: the nodes that it was to keep have changed");
  EXPECT_EQ(core().notices.back().step, NoticeStep::kFailed);
}

TEST_F(ResizerTest, TheNoticeOfAGrowthNamesTheNodesThatCome) {
  make_live({{0, 4}});
  decide(ChangeAction::kGrow, 8);
  plan_.changes[0].shares = {snapshot_.jobs[0].allocation[0], test::share_of(snapshot_, 1, 4)};
  act_at(kNow);
  const Notice grown{
      .number = 1, .step = NoticeStep::kDone, .live = true, .from = 4, .gpus = 8, .come = "n2"};
  EXPECT_EQ(core().notices, std::vector<Notice>{grown});
}

TEST_F(ResizerTest, ARehearsalIsARestartAtTheSameSize) {
  say(ResizeRequest{.gpus = 4, .live = false, .rehearsal = true});
  act_at(kNow);
  EXPECT_EQ(restart().words, "it has 8 GPUs, and a rehearsal keeps them");
  say(ResizeRequest{.gpus = 8, .live = false, .rehearsal = true});
  act_at(kNow + 1);
  EXPECT_EQ(core().signals, 1);
  EXPECT_EQ(restart().answered, 0);
  say(Ack{.notice = 1});
  act_at(kNow + 4);
  EXPECT_EQ(core().requeues, 1);
  EXPECT_EQ(restart().answered, kNow + 4);
  EXPECT_EQ(restart().step, ResizeStep::kRequeued);
}

// Its work since the last checkpoint would be lost.
TEST_F(ResizerTest, AJobThatItsSignalCannotReachIsNotRestartedOnRequest) {
  core().has_steps = false;
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  EXPECT_EQ(core().signals, 0);
  EXPECT_NE(restart().words.find("write checkpoint=B:USR1@60"), std::string::npos);
  snapshot_.jobs[0].hints->checkpoint.batch_only = true;
  say(ResizeRequest{.gpus = 4});
  act_at(kNow + 1);
  EXPECT_EQ(core().signals, 1);
}

TEST_F(ResizerTest, AnAnswerToAnEarlierNoticeDoesNotEndTheLeadTime) {
  core().notices.resize(2);
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  ASSERT_EQ(restart().notice, 3);
  say(Ack{.notice = 2});
  act_at(kNow + 1);
  EXPECT_EQ(core().requeues, 0);
  say(Ack{.notice = 0});
  act_at(kNow + 2);
  EXPECT_EQ(core().requeues, 1);
}

TEST_F(ResizerTest, ConsentCanBeWithdrawnUntilTheRequeue) {
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  snapshot_.jobs[0].hints->checkpoint.signal = 0;
  act_at(kNow + 61);
  EXPECT_EQ(restart().step, ResizeStep::kFailed);
  EXPECT_NE(restart().words.find("did not consent"), std::string::npos);
  EXPECT_EQ(core().requeues, 0);
}

TEST_F(ResizerTest, ARequeueThatSlurmRefusesLeavesTheJobRunning) {
  core().requeue_error = "Requested operation is presently disabled";
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  act_at(kNow + 61);
  EXPECT_EQ(restart().words,
            "Slurm does not requeue it: Requested operation is presently disabled");
}

TEST_F(ResizerTest, ASecondRequestMeanwhileChangesNothing) {
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  say(ResizeRequest{.gpus = 4});
  act_at(kNow + 1);
  EXPECT_EQ(core().signals, 1);
  EXPECT_EQ(memory_.asked_resizes.size(), 1);
  EXPECT_EQ(restart().step, ResizeStep::kSaving);
}

TEST_F(ResizerTest, GivesBackNodesAfterTheLeadTime) {
  make_live({{0, 4}, {1, 4}});
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  EXPECT_EQ(core().signals, 1);
  EXPECT_TRUE(restart().live);
  act_at(kNow + 60);
  EXPECT_TRUE(core().shrunk_to.empty());
  act_at(kNow + 61);
  EXPECT_EQ(core().shrunk_to, std::vector<int>{0});
  EXPECT_EQ(core().requeues, 0);
  EXPECT_EQ(restart().step, ResizeStep::kDone);
}

TEST_F(ResizerTest, GivesBackNodesAtOnceWithoutASignal) {
  make_live({{0, 4}, {1, 4}});
  snapshot_.jobs[0].hints->checkpoint.signal = 0;
  say(ResizeRequest{.gpus = 4, .live = true});
  act_at(kNow);
  EXPECT_EQ(core().signals, 0);
  EXPECT_EQ(core().shrunk_to, std::vector<int>{0});
  EXPECT_EQ(restart().step, ResizeStep::kDone);
}

// A job that gets GPUs loses nothing: it has no signal and no lead time.
TEST_F(ResizerTest, GetsGpusAtOnce) {
  make_live({{0, 4}});
  say(ResizeRequest{.gpus = 8});
  act_at(kNow);
  EXPECT_EQ(core().signals, 0);
  ASSERT_EQ(core().grown_by.size(), 1);
  EXPECT_EQ(core().grown_by[0].node, 0);
  EXPECT_EQ(core().grown_by[0].gpus, 4);
  EXPECT_EQ(core().grown_type, "a100");
  EXPECT_EQ(restart().step, ResizeStep::kDone);
}

TEST_F(ResizerTest, TheRoundsGrowthIsWhereItsPlanSays) {
  make_live({{0, 4}});
  decide(ChangeAction::kGrow, 8);
  plan_.changes[0].shares = {snapshot_.jobs[0].allocation[0], test::share_of(snapshot_, 1, 4)};
  act_at(kNow);
  ASSERT_EQ(core().grown_by.size(), 1);
  EXPECT_EQ(core().grown_by[0].node, 1);
  EXPECT_EQ(restart().step, ResizeStep::kDone);
  EXPECT_TRUE(restart().by_round);
}

TEST_F(ResizerTest, AGrowthThatSlurmRefusesLeavesTheJobAsItIs) {
  make_live({{0, 4}});
  core().growth_error = "association or QOS limit";
  say(ResizeRequest{.gpus = 8});
  act_at(kNow);
  EXPECT_EQ(restart().step, ResizeStep::kFailed);
  EXPECT_EQ(restart().words, "Slurm gives it no more: association or QOS limit");
}

TEST_F(ResizerTest, WithdrawnConsentKeepsTheNodes) {
  make_live({{0, 4}, {1, 4}});
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  snapshot_.jobs[0].hints->resize = Resize::kNone;
  act_at(kNow + 61);
  EXPECT_TRUE(core().shrunk_to.empty());
  EXPECT_NE(restart().words.find("did not consent"), std::string::npos);
}

TEST_F(ResizerTest, AJobOfTwoNodesCanBeRestartedInstead) {
  make_live({{0, 4}, {1, 4}});
  say(ResizeRequest{.gpus = 4, .live = false});
  act_at(kNow);
  act_at(kNow + 61);
  EXPECT_EQ(core().requeues, 1);
  EXPECT_TRUE(core().shrunk_to.empty());
}

TEST_F(ResizerTest, TheRoundRestartsAJobAsIfAsked) {
  decide(ChangeAction::kRestart, 4);
  act_at(kNow);
  EXPECT_EQ(core().signals, 1);
  EXPECT_TRUE(restart().by_round);
  act_at(kNow + 1);  // the plan still says it
  EXPECT_EQ(core().signals, 1);
  act_at(kNow + 61);
  EXPECT_EQ(core().requeues, 1);
  EXPECT_EQ(restart().gpus, 4);
  EXPECT_FALSE(restart().shares.empty());
}

TEST_F(ResizerTest, AHoldKeepsTheRoundFromAChange) {
  say(HoldSize{});
  decide(ChangeAction::kRestart, 4);
  act_at(kNow);
  EXPECT_EQ(core().signals, 0);
  EXPECT_EQ(memory_.size_holds.size(), 1);
  say(HoldSize{.on = false, .seconds = {}});
  act_at(kNow + 1);
  EXPECT_EQ(core().signals, 1);
}

TEST_F(ResizerTest, AHoldEndsAChangeThatTheRoundHasOnlyToldTheJob) {
  decide(ChangeAction::kRestart, 4);
  act_at(kNow);
  say(HoldSize{});
  act_at(kNow + 1);
  EXPECT_EQ(restart().words, "somebody asked that it keeps its size");
  EXPECT_EQ(core().notices.back().step, NoticeStep::kFailed);
  act_at(kNow + 61);
  EXPECT_EQ(core().requeues, 0);
}

TEST_F(ResizerTest, WhoHoldsAJobCanStillAskForAnotherSize) {
  say(HoldSize{});
  act_at(kNow);
  say(ResizeRequest{.gpus = 4});
  act_at(kNow + 1);
  EXPECT_EQ(core().signals, 1);
}

TEST_F(ResizerTest, TheRoundStopsAJobForAnotherAndKeepsNoPlaceForIt) {
  decide(ChangeAction::kStop, 0);
  act_at(kNow);
  EXPECT_TRUE(memory_.asked_resizes.empty());  // no job takes its nodes
  decide_start();
  act_at(kNow);
  act_at(kNow + 61);
  EXPECT_EQ(core().requeues, 1);
  ASSERT_EQ(memory_.asked_resizes.size(), 2);
  const AskedResize& place = memory_.asked_resizes[1];
  EXPECT_TRUE(place.starts);
  EXPECT_EQ(place.due, kNow + 61 + 120);
  const AskedResize& stop = memory_.asked_resizes[0];
  EXPECT_EQ(stop.step, ResizeStep::kRequeued);
  EXPECT_TRUE(stop.shares.empty());
}

TEST_F(ResizerTest, AStopNeedsConsentUntilTheRequeue) {
  decide(ChangeAction::kStop, 0);
  decide_start();
  act_at(kNow);
  for (Job& job : snapshot_.jobs)
    if (job.key == key_) job.hints->checkpoint.signal = 0;
  act_at(kNow + 61);
  EXPECT_EQ(core().requeues, 0);
  EXPECT_EQ(restart().step, ResizeStep::kFailed);
}

TEST_F(ResizerTest, AChangeThatWaitsForOthersIsLeft) {
  decide(ChangeAction::kRestart, 4);
  plan_.changes[0].after = {{77, kNow}};
  act_at(kNow);
  EXPECT_EQ(core().signals, 0);
  EXPECT_TRUE(memory_.asked_resizes.empty());
}

TEST_F(ResizerTest, AJobIsToldAnotherBatchOnceItHasReported) {
  decide(ChangeAction::kNotify, 8);
  plan_.changes[0].batch = 512;
  act_at(kNow);
  EXPECT_TRUE(core().notices.empty()) << "it may still start";
  memory_.progress = {{.job = key_, .time = kNow + 1, .batch = 256}};
  act_at(kNow + 2);
  act_at(kNow + 3);
  ASSERT_EQ(core().notices.size(), 1U) << "it has not reported since";
  const Notice& told = core().notices[0];
  EXPECT_TRUE(told.keeps_gpus());
  EXPECT_TRUE(told.live);
  EXPECT_EQ(told.gpus, 8);
  EXPECT_EQ(told.batch, 512);
  EXPECT_EQ(told.plan, "");
  plan_.changes[0].batch = 1024;
  plan_.changes[0].plan = "zero";
  memory_.progress[0].time = kNow + 4;
  act_at(kNow + 5);
  ASSERT_EQ(core().notices.size(), 2U);
  EXPECT_EQ(core().notices[1].batch, 1024);
  EXPECT_EQ(core().notices[1].plan, "zero");
  EXPECT_EQ(core().signals, 0);
  EXPECT_TRUE(memory_.asked_resizes.empty());
}

TEST_F(ResizerTest, AnotherBatchDoesNotHideTheEndOfAChange) {
  make_live({{0, 8}});
  decide(ChangeAction::kGrow, 16);
  plan_.changes[0].shares = {test::share_of(snapshot_, 0, 8), test::share_of(snapshot_, 1, 8)};
  memory_.progress = {{.job = key_, .time = kNow, .batch = 256}};
  act_at(kNow + 1);
  ASSERT_EQ(core().notices.size(), 1U);
  decide(ChangeAction::kNotify, 16);
  plan_.changes[0].batch = 512;
  act_at(kNow + 2);
  EXPECT_EQ(core().notices.size(), 1U) << "the job has not reported since";
  memory_.progress[0].time = kNow + 3;
  act_at(kNow + 4);
  ASSERT_EQ(core().notices.size(), 2U);
  EXPECT_TRUE(core().notices[1].keeps_gpus());
}

TEST_F(ResizerTest, NoOtherBatchIsToldWhileTheSizeChanges) {
  memory_.progress = {{.job = key_, .time = kNow, .batch = 256}};
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  decide(ChangeAction::kNotify, 8);
  plan_.changes[0].batch = 512;
  const std::size_t before = core().notices.size();
  act_at(kNow + 1);
  EXPECT_EQ(core().notices.size(), before);
}

TEST_F(ResizerTest, AGrowthTellsTheBatchOfItsSize) {
  make_live({{0, 8}});
  decide(ChangeAction::kGrow, 16);
  plan_.changes[0].shares = {test::share_of(snapshot_, 0, 8), test::share_of(snapshot_, 1, 8)};
  plan_.changes[0].batch = 1024;
  plan_.changes[0].plan = "dp=16";
  act_at(kNow);
  ASSERT_EQ(core().notices.size(), 1U);
  EXPECT_EQ(core().notices[0].batch, 1024);
  EXPECT_EQ(core().notices[0].plan, "dp=16");
  EXPECT_FALSE(core().notices[0].keeps_gpus());
  snapshot_.memory = memory_;
  fill_told(snapshot_);
  EXPECT_EQ(snapshot_.jobs[0].batch_size, 1024);
  EXPECT_EQ(snapshot_.jobs[0].plan, "dp=16");
}

TEST_F(ResizerTest, ARequeueThatTheStateFileMissedGoesOn) {
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  Resizer next(gate_, audit_, times_, folder_);
  next.resume(memory_, kNow + 100);
  EXPECT_EQ(restart().step, ResizeStep::kRequeued);
  EXPECT_EQ(restart().requeued, kNow + 100);
  EXPECT_FALSE(restart().shares.empty());
  restart().step = ResizeStep::kSaving;
  next.resume(memory_, kNow + 101);  // later on, a requeue is somebody else's
  EXPECT_EQ(restart().step, ResizeStep::kSaving);
}

// Rubato was switched off for long: what the job saved at its signal is old.
TEST_F(ResizerTest, ALeadTimeThatEndedLongAgoRestartsNoJob) {
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  ASSERT_EQ(restart().step, ResizeStep::kSaving);
  core().runs_on = true;
  for (const auto& [later, step] : {std::pair(restart().due + 120, ResizeStep::kSaving),
                                    std::pair(restart().due + 121, ResizeStep::kFailed)}) {
    Resizer next(gate_, audit_, times_, folder_);
    next.resume(memory_, later);
    EXPECT_EQ(restart().step, step);
  }
  EXPECT_EQ(restart().words, "Rubato did not run when its lead time ended");
  act_at(kNow + 500);
  EXPECT_EQ(core().requeues, 0);
}

// No event tells that time; a round before would not start the job.
TEST_F(ResizerTest, LooksWhenARequeuedJobBecomesEligible) {
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  act_at(kNow + 61);
  ASSERT_EQ(restart().step, ResizeStep::kRequeued);
  EXPECT_FALSE(resizer_.looks_soon());
  EXPECT_TRUE(resizer_.due(memory_, kNow + 61));
  snapshot_.jobs.clear();  // it is completing
  core().eligible_at = kNow + 63;
  act_at(kNow + 62);
  EXPECT_TRUE(resizer_.looks_soon());
  EXPECT_FALSE(resizer_.due(memory_, kNow + 62));
  EXPECT_TRUE(resizer_.due(memory_, kNow + 63));
  core().eligible_at = 0;
  act_at(kNow + 63);
  EXPECT_FALSE(resizer_.looks_soon());
  core().eligible_at = kNow + 65;
  act_at(kNow + 64);
  resizer_.give_up(memory_, kNow + 64);
  EXPECT_FALSE(resizer_.looks_soon());
}

// Cancelled, or started and over between two looks: other jobs do not wait two minutes for its
// place.
TEST_F(ResizerTest, ThePlaceOfAJobThatEndedIsFree) {
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  act_at(kNow + 61);
  ASSERT_EQ(restart().step, ResizeStep::kRequeued);
  snapshot_.jobs.clear();
  act_at(kNow + 62);
  EXPECT_FALSE(restart().shares.empty());
  core().has_ended = true;
  act_at(kNow + 63);
  EXPECT_EQ(restart().step, ResizeStep::kFailed);
  EXPECT_EQ(restart().words, "the job is not there any more");
  EXPECT_TRUE(restart().shares.empty());
}

TEST_F(ResizerTest, AChangeOfTheModeGivesUp) {
  say(ResizeRequest{.gpus = 4});
  act_at(kNow);
  act_at(kNow + 61);
  resizer_.give_up(memory_, kNow + 62);
  EXPECT_EQ(core().made_eligible, 1);
  EXPECT_EQ(restart().step, ResizeStep::kFailed);
}

}  // namespace
}  // namespace rubato
