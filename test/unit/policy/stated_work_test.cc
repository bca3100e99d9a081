// SPDX-License-Identifier: GPL-2.0-or-later
// Stated work counts as far as the statements of the account held.
#include "lib/policy/algorithms/stated_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/model/progress/statements.h"
#include "lib/policy/algorithms/forecast.h"
#include "lib/policy/algorithms/need.h"
#include "lib/policy/memory.h"
#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::add_pending;
using test::add_running;
using test::kNow;
using test::make_cluster;
using test::share_of;
using ::testing::HasSubstr;

// bert of both accounts does 10 samples/s on one a100; three jobs each measured it.
Models learnt() {
  const std::map<std::string, double> speeds = {{"a100", 1.0}};
  std::vector<ThroughputObservation> all;
  for (const char* account : {"ai", "lab"}) {
    all.push_back({{account, "bert"}, "a100", 1, 10, 20});
    all.back().jobs = all.back().profile_jobs = 3;
  }
  return Models(speeds, std::make_shared<const ThroughputModel>(TypeSpeeds(speeds), all));
}

Config placing() { return test::managing_all(Mode::kPlace); }

Job& stating(Snapshot& snapshot, const char* account, std::int64_t samples) {
  Job& job = add_pending(snapshot, 1);
  job.account = account;
  job.time_limit = 86400;
  job.hints.emplace();
  job.hints->job_type = "bert";
  job.hints->work = Work{WorkUnit::kSamples, samples, 0};
  return job;
}

// The one GPU is held; a job of `lab` that states 10,000 samples, then one of `ai` that states 100.
Snapshot two_accounts() {
  Snapshot snapshot = make_cluster({{"a100", 1}});
  add_running(snapshot, {share_of(snapshot, 0, 1)}, kNow + 3600).account = "lab";
  stating(snapshot, "lab", 10000);
  stating(snapshot, "ai", 100);
  return snapshot;
}

void held(Snapshot& snapshot, const char* account, double ratio, int times) {
  for (int i = 0; i < times; ++i) fold_statement(account, ratio, kNow, snapshot.memory.statements);
}

std::string fact(const Explanation& explanation, std::string_view name) {
  for (const auto& [key, value] : explanation.facts) {
    if (key == name) return value;
  }
  return {};
}

std::vector<JobId> order_of(const Plan& plan) {
  std::map<int, JobId> places;
  for (const Explanation& one : plan.explanations) {
    const std::string place = fact(one, "order");
    if (!place.empty()) places[std::stoi(place)] = one.job.id;
  }
  std::vector<JobId> order;
  for (const auto& [place, job] : places) order.push_back(job);
  return order;
}

std::string need_said(const Plan& plan, JobId job) {
  for (const Explanation& one : plan.explanations) {
    if (one.job.id == job) return fact(one, "need");
  }
  return {};
}

TEST(StatedWork, PassesNoJobOfAnotherAccountBeforeThreeJobsHeldTheirs) {
  Snapshot snapshot = two_accounts();
  held(snapshot, "lab", 1, 3);
  const JobId lab = snapshot.jobs[0].key.id;
  const JobId ai = snapshot.jobs[1].key.id;
  held(snapshot, "ai", 1, 2);
  Plan plan = round(snapshot, learnt(), placing(), kNow);
  EXPECT_EQ(order_of(plan), (std::vector<JobId>{lab, ai}));
  EXPECT_THAT(need_said(plan, ai), HasSubstr("once 3 jobs of its account"));
  held(snapshot, "ai", 1, 1);
  plan = round(snapshot, learnt(), placing(), kNow);
  EXPECT_EQ(order_of(plan), (std::vector<JobId>{ai, lab}));
  EXPECT_THAT(need_said(plan, ai), HasSubstr("by its own work and speed"));
}

TEST(StatedWork, CountsFromTheStartWhereAllJobsAreOfOneAccount) {
  Snapshot snapshot = two_accounts();
  for (Job& job : snapshot.jobs) job.account = "ai";
  const Plan plan = round(snapshot, learnt(), placing(), kNow);
  EXPECT_EQ(order_of(plan), (std::vector<JobId>{snapshot.jobs[1].key.id, snapshot.jobs[0].key.id}));
}

TEST(StatedWork, CountsWithoutTheRule) {
  Snapshot snapshot = two_accounts();
  Config off = placing();
  off.test_off.insert(Mechanism::kStatements);
  const Plan plan = round(snapshot, learnt(), off, kNow);
  EXPECT_EQ(order_of(plan), (std::vector<JobId>{snapshot.jobs[1].key.id, snapshot.jobs[0].key.id}));
}

TEST(StatedWork, CountsAsManyTimesAsWhatTheAccountDidOfItsStatements) {
  Snapshot snapshot = two_accounts();
  held(snapshot, "ai", 1, 1);
  held(snapshot, "ai", 400, 3);
  held(snapshot, "lab", 1.2, 5);
  EXPECT_DOUBLE_EQ(*work_left(snapshot, snapshot.jobs[0]), 10000) << "a last epoch";
  EXPECT_DOUBLE_EQ(*work_left(snapshot, snapshot.jobs[1]), 40000);
  const Plan plan = round(snapshot, learnt(), placing(), kNow);
  EXPECT_EQ(order_of(plan), (std::vector<JobId>{snapshot.jobs[0].key.id, snapshot.jobs[1].key.id}));
  EXPECT_THAT(need_said(plan, snapshot.jobs[1].key.id), HasSubstr("counts 400.0 times"));
}

TEST(StatedWork, PastItNothingIsKnownOfTheWorkThatIsLeft) {
  Snapshot snapshot = two_accounts();
  const Job& job = snapshot.jobs[1];
  Progress progress;
  progress.job = job.key;
  for (const auto& [samples, left] : std::map<std::int64_t, std::optional<double>>{
           {40, 60}, {100, 1}, {125, 1}, {126, std::nullopt}}) {
    progress.samples = samples;
    snapshot.memory.progress = {progress};
    EXPECT_EQ(work_left(snapshot, job), left) << samples;
  }
}

Job& movable(Job& job, std::int64_t samples) {
  job.managed = true;
  job.request.gpus = 1;
  job.account = "ai";
  job.time_limit = 86400;
  job.eligible = kNow - 3600;
  job.costs = {30, 30, 30};
  job.hints.emplace();
  job.hints->job_type = "bert";
  job.hints->work = Work{WorkUnit::kSamples, samples, 0};
  job.hints->checkpoint.signal = SIGUSR1;
  job.hints->resize = Resize::kRestart;
  return job;
}

// It did 5,000 samples, and by its statement it takes `left` seconds more.
void reported(Snapshot& snapshot, const Job& job, double left) {
  Memory& memory = snapshot.memory;
  Progress progress;
  progress.job = job.key;
  progress.samples = 5000;
  progress.throughput = 10;
  progress.time = kNow;
  memory.progress.push_back(progress);
  ProgressHistory history;
  history.job = job.key;
  history.start = job.start;
  history.left = left;
  history.updated = kNow;
  memory.progress_histories.push_back(history);
  std::ranges::sort(memory.progress, {}, &Progress::job);
  std::ranges::sort(memory.progress_histories, {}, &ProgressHistory::job);
}

double left_of(const Plan& plan, JobKey job) {
  for (const Stay& stay : plan.stays) {
    if (stay.job == job) return stay.seconds_left;
  }
  return 0;
}

Config changing() { return test::managing_all(Mode::kElastic); }

TEST(StatedWork, OfARunningJobCountsNoMoreThanOfAWaitingOne) {
  Snapshot snapshot = make_cluster({{"a100", 1}});
  const Job job = movable(add_running(snapshot, {share_of(snapshot, 0, 1)}, kNow + 80000), 100'000);
  reported(snapshot, job, 9500);
  stating(snapshot, "lab", 10000);
  EXPECT_NEAR(left_of(round(snapshot, learnt(), changing(), kNow), job.key), 500, 1)
      << "as long again as it ran";
  held(snapshot, "ai", 1, 3);
  EXPECT_NEAR(left_of(round(snapshot, learnt(), changing(), kNow), job.key), 9500, 1);
}

// In service a GPU counts by the speed of its type: here 0.3.
TEST(StatedWork, WithoutReportsAJobIsTakenToRunAsLongAgainOnSlowGpusToo) {
  Snapshot snapshot = make_cluster({{"k80", 1}, {"a100", 1}});
  const std::map<std::string, double> speeds = {{"a100", 1.0}, {"k80", .3}};
  std::vector<ThroughputObservation> all;
  for (const auto& [type, speed] : speeds) {
    all.push_back({{"ai", "bert"}, type, 1, 10 * speed, 20});
    all.back().jobs = all.back().profile_jobs = 3;
  }
  const Models models(speeds, std::make_shared<const ThroughputModel>(TypeSpeeds(speeds), all));
  Job& job = movable(add_running(snapshot, {share_of(snapshot, 0, 1)}, kNow + 80000), 100'000);
  job.start = kNow - 3600;
  job.hints->work.reset();
  job.hints->gpu_types = {{"k80"}};
  const JobKey key = job.key;
  EXPECT_NEAR(left_of(round(snapshot, models, changing(), kNow), key), 3600, 40);
  snapshot.jobs[0].end_limit = kNow + 1000;
  EXPECT_NEAR(left_of(round(snapshot, models, changing(), kNow), key), 1000, 1)
      << "within its time limit";
}

// Two jobs that are alike but for who runs.
TEST(StatedWork, ThatDoesNotCountLetsNoJobsTakeTurns) {
  Snapshot snapshot = make_cluster({{"a100", 1}});
  Job& waits = movable(add_pending(snapshot, 1), 100'000);
  waits.restarts = 1;
  reported(snapshot, waits, 9500);
  const Job runs =
      movable(add_running(snapshot, {share_of(snapshot, 0, 1)}, kNow + 80000), 100'000);
  reported(snapshot, runs, 9500);
  stating(snapshot, "lab", 1'000'000);
  for (const bool believed : {false, true}) {
    if (believed) held(snapshot, "ai", 1, 3);
    const Plan plan = round(snapshot, learnt(), changing(), kNow);
    EXPECT_TRUE(plan.changes.empty()) << believed;
    EXPECT_NEAR(left_of(plan, runs.key), believed ? 9500 : 500, 1);
  }
}

TEST(StatedWork, OnlyJobsThatSayHowMuchTheyDidSupportIt) {
  Memory memory;
  const JobKey job{1, kNow};
  const Work work{WorkUnit::kSamples, 100, 0};
  fold_statement(job, {"ai", work, true}, kNow, memory);
  EXPECT_TRUE(memory.statements.empty()) << "no report";
  Progress progress;
  progress.job = job;
  progress.samples = 90;
  memory.progress = {progress};
  fold_statement(job, {"ai", std::nullopt, true}, kNow, memory);
  fold_statement(job, {"ai", work, false}, kNow, memory);
  fold_statement(job, {"ai", Work{WorkUnit::kSteps, 5, 0}, true}, kNow, memory);
  EXPECT_TRUE(memory.statements.empty()) << "nothing stated, cancelled, steps without a batch";
  fold_statement(job, {"ai", work, true}, kNow, memory);
  memory.progress[0].samples = 500;
  fold_statement(job, {"ai", work, false}, kNow, memory);
  ASSERT_EQ(memory.statements.size(), 1U);
  EXPECT_EQ(memory.statements[0], (AccountStatements{"ai", kNow, {{0.9}, {5}}}));
}

TEST(StatedWork, OldStatementsAndAccountsAreDropped) {
  std::vector<AccountStatements> accounts;
  for (std::size_t i = 0; i < kMaxStatements; ++i) fold_statement("b", 10, 1, accounts);
  for (std::size_t i = 0; i < kMaxStatements; ++i) fold_statement("b", 1, 2, accounts);
  EXPECT_EQ(statement_factor(accounts, "b"), 1);
  for (std::size_t i = 0; i < kMaxStatedAccounts; ++i)
    fold_statement("c" + std::to_string(i), 1, 3, accounts);
  EXPECT_EQ(accounts.size(), kMaxStatedAccounts);
  EXPECT_EQ(statement_factor(accounts, "b"), std::nullopt) << "the oldest";
  EXPECT_TRUE(std::ranges::is_sorted(accounts, {}, &AccountStatements::account));
}

}  // namespace
}  // namespace rubato
