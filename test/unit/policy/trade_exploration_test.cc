// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/trade_exploration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::add_pending;
using test::add_running;
using test::kNow;
using test::make_cluster;
using test::share_of;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kEnded = 20;

Config elastic() { return test::managing_all(Mode::kElastic); }

// The type "slow" is configured as half as fast; "net" was measured on the other one alone.
Models learnt() {
  const std::map<std::string, double> speeds = {{"fast", 2.0}, {"slow", 1.0}};
  std::vector<ThroughputObservation> observations;
  for (int gpus = 1; gpus <= 4; gpus *= 2) {
    ThroughputObservation one{{"lab", "net"}, "fast", gpus, 20 * std::pow(gpus, .8), 50};
    one.jobs = one.profile_jobs = kEnded;
    observations.push_back(one);
  }
  return Models(speeds, std::make_shared<const ThroughputModel>(TypeSpeeds(speeds), observations));
}

ResolvedHints hints() {
  ResolvedHints said;
  said.job_type = "net";
  said.work = Work{WorkUnit::kSamples, 10'000, 0};
  said.checkpoint.signal = SIGUSR1;
  said.resize = Resize::kRestart;
  return said;
}

// Four jobs of one GPU wait, and all of them could have GPUs of the fast type.
Snapshot waiting_jobs() {
  Snapshot snapshot = make_cluster({{"fast", 8}, {"slow", 8}});
  for (int i = 0; i < 4; ++i) {
    Job& job = add_pending(snapshot, 1);
    job.account = "lab";
    job.time_limit = 100'000;
    job.later_set = job.node_set;
    job.hints = hints();
  }
  ProfileWork work{"lab", "net", kNow};
  work.ended.assign(kEnded, EndedWork{10'000});
  snapshot.memory.works.push_back(work);
  return snapshot;
}

int starts_on(const Plan& plan, const std::string& type) {
  return static_cast<int>(std::ranges::count(plan.starts, type, &Start::gpu_type));
}

TEST(Exploration, OneOfTheJobsMeasuresItsTypeOnOtherGpus) {
  const Plan plan = round(waiting_jobs(), learnt(), elastic(), kNow);
  EXPECT_EQ(starts_on(plan, "slow"), 1);
  EXPECT_EQ(starts_on(plan, "fast"), 3);
  ASSERT_THAT(plan.memory.explorations, SizeIs(1));
  const Exploration& one = plan.memory.explorations[0];
  EXPECT_EQ(one.account, "lab");
  EXPECT_EQ(one.job_type, "net");
  EXPECT_EQ(one.gpu_type, "slow");
  EXPECT_EQ(one.gpus, 1);
  EXPECT_EQ(one.time, kNow);
  EXPECT_GT(one.gpu_seconds, 0);
}

TEST(Exploration, NoneWithoutBudget) {
  Config config = elastic();
  config.exploration_budget = 0;
  const Plan plan = round(waiting_jobs(), learnt(), config, kNow);
  EXPECT_EQ(starts_on(plan, "slow"), 0);
  EXPECT_EQ(starts_on(plan, "fast"), 4);
  EXPECT_THAT(plan.memory.explorations, IsEmpty());
}

TEST(Exploration, TheBudgetIsThatOfADay) {
  Snapshot snapshot = waiting_jobs();
  Exploration one;
  one.job = {999'999, 1};
  one.account = "art";
  one.job_type = "other";
  one.gpu_type = "fast";
  one.time = kNow - 1000;
  one.gpu_seconds = 1e9;
  snapshot.memory.explorations = {one};
  const Plan used = round(snapshot, learnt(), elastic(), kNow);
  EXPECT_EQ(starts_on(used, "slow"), 0);
  EXPECT_THAT(used.memory.explorations, SizeIs(1)) << "it counts on";

  snapshot.memory.explorations[0].time = kNow - kExplorationTime;
  const Plan later = round(snapshot, learnt(), elastic(), kNow);
  EXPECT_EQ(starts_on(later, "slow"), 1);
  ASSERT_THAT(later.memory.explorations, SizeIs(1));
  EXPECT_EQ(later.memory.explorations[0].account, "lab");
}

TEST(Exploration, OneJobOfATypeAtATime) {
  Snapshot snapshot = waiting_jobs();
  Job& job = add_running(snapshot, {share_of(snapshot, 1, 1)}, kNow + 1'000'000);
  job.account = "lab";
  job.hints = hints();
  const Plan plan = round(snapshot, learnt(), elastic(), kNow);
  EXPECT_EQ(starts_on(plan, "slow"), 0) << "its reports will come";
}

TEST(Exploration, AJobWhoseStartWasRefusedIsSentAgain) {
  Snapshot snapshot = waiting_jobs();
  const Plan first = round(snapshot, learnt(), elastic(), kNow);
  snapshot.memory = first.memory;
  const Plan again = round(snapshot, learnt(), elastic(), kNow + 1);
  EXPECT_EQ(again.starts, first.starts);
  ASSERT_THAT(again.memory.explorations, SizeIs(1)) << "it counts once";
  EXPECT_EQ(again.memory.explorations[0].job, first.memory.explorations[0].job);
  EXPECT_EQ(again.memory.explorations[0].time, kNow + 1);
}

TEST(Exploration, ModePlaceKeepsTheAccount) {
  Snapshot snapshot = waiting_jobs();
  snapshot.memory = round(snapshot, learnt(), elastic(), kNow).memory;
  const Config place = test::managing_all(Mode::kPlace);
  EXPECT_THAT(round(snapshot, learnt(), place, kNow + 1).memory.explorations, SizeIs(1));
  EXPECT_THAT(round(snapshot, learnt(), place, kNow + kExplorationTime).memory.explorations,
              IsEmpty());
}

TEST(Exploration, NotByJobsThatCannotLeaveAgain) {
  Snapshot snapshot = waiting_jobs();
  // The second kind changes its size while it runs, but not its type.
  for (const Resize resize : {Resize::kNone, Resize::kLive}) {
    for (Job& job : snapshot.jobs) {
      job.hints->checkpoint.signal = 0;
      job.hints->resize = resize;
    }
    Config config = elastic();
    const Plan plan = round(snapshot, learnt(), config, kNow);
    config.exploration_budget = 0;
    EXPECT_EQ(plan.starts, round(snapshot, learnt(), config, kNow).starts);
    EXPECT_THAT(plan.memory.explorations, IsEmpty());
  }
}

TEST(Exploration, NotByJobsOfAGuaranteedQos) {
  Snapshot snapshot = waiting_jobs();
  for (Job& job : snapshot.jobs) job.qos = "high";
  Config config = elastic();
  config.guaranteed_qos = {"high"};
  const Plan plan = round(snapshot, learnt(), config, kNow);
  EXPECT_EQ(starts_on(plan, "slow"), 0);
  EXPECT_THAT(plan.memory.explorations, IsEmpty());
}

TEST(Exploration, NotByASingleJobThatIsTheLastOfItsType) {
  Snapshot snapshot = waiting_jobs();
  snapshot.jobs.resize(1);
  snapshot.memory.works.clear();
  const Plan plan = round(snapshot, learnt(), elastic(), kNow);
  EXPECT_EQ(starts_on(plan, "fast"), 1);
  EXPECT_THAT(plan.memory.explorations, IsEmpty());
}

}  // namespace
}  // namespace rubato
