// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/select/gate.h"

#include <gtest/gtest.h>

#include <thread>

#include "test/support/fake_slurm_log.h"

namespace rubato {
namespace {

Gate::Nanoseconds fake_now = 0;
Gate::Nanoseconds fake_clock() { return fake_now; }

using Kind = GateQuestion::Kind;
using Answer = GateAnswer::Kind;

class CountingWaker final : public Waker {
 public:
  void wake() noexcept override { ++count; }
  int count = 0;
};

class GateTest : public ::testing::Test {
 protected:
  GateTest() : gate_(fake_clock) {
    fake_now = 1'000'000'000;
    use({});
    gate_.set_records_checked(true);
    gate_.beat();
    gate_.set_waker(&waker_);
  }

  ~GateTest() override {
    gate_.set_waker(nullptr);
    gate_.enter_start(nullptr);
    gate_.mark_backfill_thread(false);
    gate_.note_submit(0, false);
  }

  void use(std::set<Mechanism> off, Mode mode = Mode::kPlace) {
    auto config = std::make_shared<Config>();
    config->mode = mode;
    config->manage_all = true;
    config->test_off = std::move(off);
    gate_.set_config(std::move(config));
  }

  static void pass_seconds(double seconds) {
    fake_now += static_cast<Gate::Nanoseconds>(seconds * 1e9);
  }

  static GateQuestion managed(Kind kind) {
    GateQuestion question;
    question.kind = kind;
    question.managed = true;
    question.uid = 1000;
    question.job = 7;
    question.now = 100;
    question.submit = 100;
    question.end = 200;
    question.tier = 1;
    question.priority = 50;
    return question;
  }

  static GateQuestion unmanaged(Kind kind) {
    GateQuestion question = managed(kind);
    question.managed = false;
    return question;
  }

  Answer answer(const GateQuestion& question) { return gate_.answer(question).kind; }

  Gate gate_;
  CountingWaker waker_;
};

TEST_F(GateTest, IsOpenBeforeAConfigurationIsRead) {
  gate_.set_config(nullptr);
  EXPECT_EQ(answer(managed(Kind::kRunNow)), Answer::kPass);
}

TEST_F(GateTest, RefusesAManagedStartOutsideTheLoop) {
  EXPECT_EQ(answer(managed(Kind::kRunNow)), Answer::kRefuse);
  EXPECT_EQ(gate_.stats().refused_run_now, 1U);
  EXPECT_FALSE(gate_.stats().open);
}

TEST_F(GateTest, IsOpenInObserveMode) {
  use({}, Mode::kObserve);
  EXPECT_EQ(answer(managed(Kind::kRunNow)), Answer::kPass);
}

TEST_F(GateTest, IsOpenWhenSwitchedOffForATest) {
  use({Mechanism::kGate});
  EXPECT_EQ(answer(managed(Kind::kRunNow)), Answer::kPass);
}

TEST_F(GateTest, IsOpenUntilTheRecordsWereChecked) {
  gate_.set_records_checked(false);
  EXPECT_EQ(answer(managed(Kind::kRunNow)), Answer::kPass);
}

TEST_F(GateTest, IsOpenBeforeTheFirstHeartbeat) {
  Gate fresh(fake_clock);
  fresh.set_config(gate_.config());
  fresh.set_records_checked(true);
  EXPECT_EQ(fresh.answer(managed(Kind::kRunNow)).kind, Answer::kPass);
}

TEST_F(GateTest, OpensWhenTheHeartbeatStopsAndClosesWhenItIsBack) {
  pass_seconds(9.9);
  EXPECT_EQ(answer(managed(Kind::kRunNow)), Answer::kRefuse);
  pass_seconds(0.2);
  EXPECT_EQ(answer(managed(Kind::kRunNow)), Answer::kPass);
  EXPECT_EQ(gate_.stats().opened, 1U);
  EXPECT_TRUE(gate_.stats().open);
  gate_.beat();
  EXPECT_EQ(answer(managed(Kind::kRunNow)), Answer::kRefuse);
}

TEST_F(GateTest, StaysClosedWithoutAHeartbeatWhenThatIsSwitchedOff) {
  use({Mechanism::kHeartbeat});
  pass_seconds(3600);
  EXPECT_EQ(answer(managed(Kind::kRunNow)), Answer::kRefuse);
}

TEST_F(GateTest, IsOpenWhileACycleHasFailed) {
  gate_.hand_over(true);
  EXPECT_EQ(answer(managed(Kind::kRunNow)), Answer::kPass);
  gate_.hand_over(false);
  EXPECT_EQ(answer(managed(Kind::kRunNow)), Answer::kRefuse);
}

TEST_F(GateTest, NeverRefusesWhatDecidesWhetherAJobCanRunAtAll) {
  EXPECT_EQ(answer(managed(Kind::kTestOnly)), Answer::kPass);
  EXPECT_EQ(answer(managed(Kind::kOther)), Answer::kPass);
  GateQuestion zero = managed(Kind::kRunNow);
  zero.zero_nodes = true;
  EXPECT_EQ(answer(zero), Answer::kPass);
  GateQuestion made_up = managed(Kind::kRunNow);
  made_up.real_job = false;
  EXPECT_EQ(answer(made_up), Answer::kPass);
}

TEST_F(GateTest, RefusesWillRunOnlyInStockBackfillsThread) {
  EXPECT_EQ(answer(managed(Kind::kWillRun)), Answer::kPass);
  gate_.mark_backfill_thread(true);
  const GateAnswer refused = gate_.answer(managed(Kind::kWillRun));
  EXPECT_EQ(refused.kind, Answer::kRefuse);
  EXPECT_TRUE(refused.backfill_test);
  use({Mechanism::kDepth});
  EXPECT_FALSE(gate_.answer(managed(Kind::kWillRun)).backfill_test);
  use({Mechanism::kWillrun});
  EXPECT_EQ(answer(managed(Kind::kWillRun)), Answer::kPass);
}

TEST_F(GateTest, TheBackfillMarkBelongsToOneThread) {
  std::thread other([this] { gate_.mark_backfill_thread(true); });
  other.join();
  EXPECT_EQ(answer(managed(Kind::kWillRun)), Answer::kPass);
}

TEST_F(GateTest, LetsAnImmediateRequestThroughForAMoment) {
  gate_.note_submit(1000, true);
  EXPECT_EQ(answer(managed(Kind::kRunNow)), Answer::kPass);
  GateQuestion other_user = managed(Kind::kRunNow);
  other_user.uid = 1001;
  EXPECT_EQ(answer(other_user), Answer::kRefuse);
  pass_seconds(5.1);
  gate_.beat();
  EXPECT_EQ(answer(managed(Kind::kRunNow)), Answer::kRefuse);
  gate_.note_submit(1000, false);
  EXPECT_EQ(answer(managed(Kind::kRunNow)), Answer::kRefuse);
}

TEST_F(GateTest, AnImmediateRequestIsForOneJobAlthoughItsThreadGoesOn) {
  gate_.note_submit(1000, true);
  GateQuestion older = managed(Kind::kRunNow);
  older.job = 6;
  older.submit = 98;
  EXPECT_EQ(answer(older), Answer::kRefuse) << "submitted before the request";
  EXPECT_EQ(answer(managed(Kind::kRunNow)), Answer::kPass);
  EXPECT_EQ(answer(managed(Kind::kRunNow)), Answer::kPass) << "in its second partition";
  GateQuestion later = managed(Kind::kRunNow);
  later.job = 8;
  EXPECT_EQ(answer(later), Answer::kRefuse);
}

TEST_F(GateTest, AnImmediateRequestTakesNoReservedNodesWhateverItsPriority) {
  gate_.set_reserved({{.job = 3, .start = 150, .tier = 1, .priority = 60, .nodes = {4, 2}}});
  gate_.note_submit(1000, true);
  GateQuestion urgent = managed(Kind::kRunNow);
  urgent.priority = 1000;
  urgent.tier = 1;
  urgent.end = 200;
  EXPECT_EQ(gate_.answer(urgent).masked, (std::vector<int>{2, 4}));
  urgent.end = 150;
  EXPECT_EQ(answer(urgent), Answer::kPass) << "it ends before";
  urgent.end = 200;
  urgent.tier = 2;
  EXPECT_EQ(answer(urgent), Answer::kPass);
}

TEST_F(GateTest, LeavesAskedJobsToStockBackfillBesideWhatIsReserved) {
  gate_.set_asked({{.job = 9}, {.job = 7}});
  EXPECT_EQ(gate_.asked(), (std::vector<JobId>{7, 9}));
  EXPECT_EQ(answer(managed(Kind::kRunNow)), Answer::kRefuse) << "not stock's main scheduler";
  gate_.mark_backfill_thread(true);
  EXPECT_EQ(answer(managed(Kind::kWillRun)), Answer::kPass);
  EXPECT_EQ(answer(managed(Kind::kRunNow)), Answer::kPass);
  gate_.set_reserved({{.job = 3, .start = 150, .tier = 1, .priority = 60, .nodes = {4}},
                      {.job = 7, .start = 150, .tier = 1, .priority = 60, .nodes = {5}}});
  GateQuestion question = managed(Kind::kWillRun);
  question.tier = 1;
  question.end = 200;
  EXPECT_EQ(gate_.answer(question).masked, std::vector<int>{4}) << "not its own";
  gate_.set_asked({{.job = 7, .closed = {2, 6}}});
  EXPECT_EQ(gate_.answer(question).masked, (std::vector<int>{2, 4, 6})) << "nor other GPU types";
  question.job = 8;
  EXPECT_EQ(answer(question), Answer::kRefuse);
  gate_.set_asked({{.job = 7, .closed = {2, 6}}});
  gate_.forget_nodes();
  question.job = 7;
  EXPECT_EQ(answer(question), Answer::kRefuse) << "the closed nodes may be others now";
  gate_.set_asked({});
  EXPECT_EQ(answer(managed(Kind::kWillRun)), Answer::kRefuse);
}

TEST_F(GateTest, NarrowsTheStartOfTheLoopItself) {
  const std::vector<int> nodes{1, 2};
  const StartScope scope{.managed = true, .only = &nodes, .never = nullptr};
  gate_.enter_start(&scope);
  const GateAnswer narrowed = gate_.answer(managed(Kind::kRunNow));
  EXPECT_EQ(narrowed.kind, Answer::kNarrow);
  EXPECT_EQ(narrowed.scope, &scope);
  EXPECT_EQ(answer(managed(Kind::kTestOnly)), Answer::kPass);
  gate_.enter_start(nullptr);
  EXPECT_EQ(answer(managed(Kind::kRunNow)), Answer::kRefuse);
}

// Without questions in a quiet queue, the published state is still what the gate would answer.
TEST_F(GateTest, ItsStateIsTrueBeforeAnyQuestion) {
  EXPECT_FALSE(gate_.stats().open);
  gate_.hand_over(true);
  EXPECT_TRUE(gate_.stats().open);
  gate_.hand_over(false);
  EXPECT_FALSE(gate_.stats().open);
  pass_seconds(12);
  EXPECT_TRUE(gate_.stats().open);
  gate_.beat();
  EXPECT_FALSE(gate_.stats().open);
  use({}, Mode::kObserve);
  EXPECT_TRUE(gate_.stats().open);
  use({});
  gate_.set_records_checked(false);
  EXPECT_TRUE(gate_.stats().open);
  EXPECT_EQ(gate_.stats().opened, 0U);  // number of changed answers
  EXPECT_TRUE(Gate(fake_clock).stats().open);
}

TEST_F(GateTest, WakesTheLoopOnSubmitsButNotOnBackfill) {
  (void)gate_.answer(managed(Kind::kRunNow));
  (void)gate_.answer(unmanaged(Kind::kTestOnly));
  EXPECT_EQ(waker_.count, 2);
  (void)gate_.answer(managed(Kind::kWillRun));
  gate_.mark_backfill_thread(true);
  (void)gate_.answer(managed(Kind::kRunNow));
  EXPECT_EQ(waker_.count, 2);
  gate_.mark_backfill_thread(false);
  use({Mechanism::kWake});
  (void)gate_.answer(managed(Kind::kRunNow));
  EXPECT_EQ(waker_.count, 2);
}

TEST_F(GateTest, TakesReservedNodesFromUnmanagedJobsThatWouldOutlastThem) {
  gate_.set_reserved({{.job = 3, .start = 150, .tier = 1, .priority = 60, .nodes = {4, 2}},
                      {.job = 5, .start = 180, .tier = 1, .priority = 60, .nodes = {2, 6}}});
  const GateAnswer masked = gate_.answer(unmanaged(Kind::kRunNow));
  EXPECT_EQ(masked.kind, Answer::kMask);
  EXPECT_EQ(masked.masked, (std::vector<int>{2, 4, 6}));
  EXPECT_EQ(answer(unmanaged(Kind::kWillRun)), Answer::kPass) << "sbatch --test-only";
  gate_.mark_backfill_thread(true);
  EXPECT_EQ(answer(unmanaged(Kind::kWillRun)), Answer::kMask);
  gate_.mark_backfill_thread(false);
  EXPECT_EQ(answer(unmanaged(Kind::kTestOnly)), Answer::kPass);

  GateQuestion shorter = unmanaged(Kind::kRunNow);
  shorter.end = 150;
  EXPECT_EQ(answer(shorter), Answer::kPass);
  shorter.end = 170;
  EXPECT_EQ(gate_.answer(shorter).masked, (std::vector<int>{2, 4}));

  GateQuestion higher = unmanaged(Kind::kRunNow);
  higher.priority = 61;
  EXPECT_EQ(answer(higher), Answer::kPass);
  higher.priority = 1;
  higher.tier = 2;
  EXPECT_EQ(answer(higher), Answer::kPass);

  gate_.forget_nodes();
  EXPECT_EQ(answer(unmanaged(Kind::kRunNow)), Answer::kPass);
}

TEST_F(GateTest, ADrainKeepsItsNodesFromJobsWithoutATimeLimit) {
  gate_.set_reserved({{.job = 3, .start = kForever, .tier = 1, .priority = 60, .nodes = {4}}});
  EXPECT_EQ(answer(unmanaged(Kind::kRunNow)), Answer::kPass);
  GateQuestion endless = unmanaged(Kind::kRunNow);
  endless.end = kForever;
  EXPECT_EQ(gate_.answer(endless).masked, std::vector<int>{4});
}

TEST_F(GateTest, MasksNothingWhenTheGateIsOpenOrTheMaskIsOff) {
  const std::vector<ReservedNodes> reserved{
      {.job = 3, .start = 150, .tier = 1, .priority = 60, .nodes = {4}}};
  gate_.set_reserved(reserved);
  use({Mechanism::kResvMask});
  EXPECT_EQ(answer(unmanaged(Kind::kRunNow)), Answer::kPass);
  use({});
  pass_seconds(11);
  EXPECT_EQ(answer(unmanaged(Kind::kRunNow)), Answer::kPass);
}

TEST_F(GateTest, SaysOnceThatItOpened) {
  (void)gate_.answer(managed(Kind::kRunNow));
  test::clear_log();
  pass_seconds(12);
  (void)gate_.answer(managed(Kind::kRunNow));
  (void)gate_.answer(managed(Kind::kRunNow));
  ASSERT_EQ(test::logged().size(), 1U);
  EXPECT_EQ(test::logged()[0],
            "rubato: the gate is open (last heartbeat 12.0 s ago): stock Slurm starts all jobs");
}

TEST_F(GateTest, ThrowsWhereATestAsksForIt) {
  auto config = std::make_shared<Config>();
  config->mode = Mode::kPlace;
  config->test_inject[Fault::kThrowGate] = 0;
  gate_.set_config(std::move(config));
  EXPECT_THROW((void)gate_.answer(managed(Kind::kRunNow)), std::runtime_error);
}

}  // namespace
}  // namespace rubato
