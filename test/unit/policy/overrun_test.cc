// SPDX-License-Identifier: GPL-2.0-or-later
// A user who understates work gains by it once.
#include "lib/policy/algorithms/overrun.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lib/policy/algorithms/need.h"
#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::add_pending;
using test::add_running;
using test::kNow;
using test::make_cluster;
using test::share_of;

// bert does 10 samples/s on one a100; three jobs measured it.
Models learnt(int profile_jobs = 3) {
  const std::map<std::string, double> speeds = {{"a100", 1.0}};
  ThroughputObservation one{{"lab", "bert"}, "a100", 1, 10, 20};
  one.jobs = one.profile_jobs = profile_jobs;
  return Models(speeds, std::make_shared<const ThroughputModel>(
                            TypeSpeeds(speeds), std::vector<ThroughputObservation>{one}));
}

Config placing() {
  Config config;
  config.mode = Mode::kPlace;
  config.manage_all = true;
  return config;
}

void hint(Job& job, std::uint32_t uid, std::int64_t samples) {
  job.account = "lab";
  job.uid = uid;
  job.hints.emplace();
  job.hints->job_type = "bert";
  job.hints->work = Work{WorkUnit::kSamples, samples, 0};
}

// A running job of uid 7 that states `samples` and has run for `ran` seconds.
Snapshot running(std::int64_t samples, Seconds ran) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  Job& job = add_running(snapshot, {share_of(snapshot, 0, 1)}, kNow + 3600);
  job.start = kNow - ran;
  job.managed = true;
  hint(job, 7, samples);
  return snapshot;
}

std::vector<UserOverrun> overruns_after(const Snapshot& snapshot) {
  return round(snapshot, learnt(), placing(), kNow).memory.overruns;
}

TEST(Overrun, AJobThatRunsFarPastItsStatedWorkIsNoted) {
  const Snapshot snapshot = running(1, 301);
  const auto found = overruns_after(snapshot);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0], (UserOverrun{7, kNow, snapshot.jobs[0].key.id}));
  EXPECT_TRUE(overruns_after(running(1, 300)).empty()) << "start-up";
  EXPECT_TRUE(overruns_after(running(2000, 500)).empty()) << "200 s of work, a wrong forecast";
  EXPECT_EQ(overruns_after(running(2000, 700)).size(), 1U);
}

TEST(Overrun, ReportsCountBeforeTime) {
  Snapshot snapshot = running(1000, 3000);
  Progress progress;
  progress.job = snapshot.jobs[0].key;
  progress.time = kNow - 5;
  progress.samples = 900;
  progress.throughput = 1;
  snapshot.memory.progress = {progress};
  EXPECT_TRUE(overruns_after(snapshot).empty()) << "slow, and not beyond its work";
  snapshot.memory.progress[0].samples = 1300;
  EXPECT_EQ(overruns_after(snapshot).size(), 1U);
}

TEST(Overrun, CountsForADay) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  snapshot.memory.overruns = {{7, kNow - kOverrunCounts + 1, 3}, {9, kNow - kOverrunCounts, 4}};
  const auto found = overruns_after(snapshot);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].uid, 7U);
}

std::vector<JobId> order_of(const Snapshot& snapshot, const Config& config,
                            const Models& models = learnt()) {
  std::vector<JobId> order;
  for (const Explanation& said : round(snapshot, models, config, kNow).explanations)
    order.push_back(said.job.id);
  return order;
}

// A full node; an honest job of 1,000 samples, then one of uid 7 that states a single sample.
Snapshot two_waiting() {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 4)}, kNow + 3600);
  for (const auto& [uid, samples] : {std::pair(5, 1000), std::pair(7, 1)}) {
    Job& job = add_pending(snapshot, 1);
    hint(job, static_cast<std::uint32_t>(uid), samples);
    job.time_limit = 86400;
  }
  return snapshot;
}

TEST(Overrun, TheNextJobsOfTheUserAreTakenAtTheirTimeLimit) {
  Snapshot snapshot = two_waiting();
  const JobId honest = snapshot.jobs[0].key.id;
  const JobId other = snapshot.jobs[1].key.id;
  EXPECT_EQ(order_of(snapshot, placing()), (std::vector{other, honest})) << "the first time";
  snapshot.memory.overruns = {{7, kNow - 600, 99}};
  EXPECT_EQ(order_of(snapshot, placing()), (std::vector{honest, other}));
  const Plan plan = round(snapshot, learnt(), placing(), kNow);
  const auto& facts = plan.explanations.at(1).facts;
  const auto need = std::ranges::find(facts, "need", [](const auto& one) { return one.first; });
  ASSERT_NE(need, facts.end());
  EXPECT_EQ(need->second,
            "86400 GPU-seconds, by its time limit, since job 99 of its user ran past its stated "
            "work");
  Config off = placing();
  off.test_off.insert(Mechanism::kOverrun);
  EXPECT_EQ(order_of(snapshot, off), (std::vector{other, honest}));
}

std::vector<JobId> started_in_mode_elastic(const Snapshot& snapshot) {
  Config config = placing();
  config.mode = Mode::kElastic;
  std::vector<JobId> started;
  for (const Start& start : round(snapshot, learnt(), config, kNow).starts)
    started.push_back(start.job.id);
  return started;
}

TEST(Overrun, TheMarketTakesTheNextJobsOfTheUserAtTheirTimeLimit) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 3)}, kNow + 3600);
  std::map<std::uint32_t, JobId> ids;
  for (const auto& [uid, samples] : {std::pair(5U, 1000), std::pair(7U, 100)}) {
    Job& job = add_pending(snapshot, 1);
    hint(job, uid, samples);
    job.time_limit = 86400;
    ids[uid] = job.key.id;
  }
  snapshot.memory.overruns = {{7, kNow - 600, 99}};
  EXPECT_EQ(started_in_mode_elastic(snapshot), std::vector{ids[5]});
}

TEST(Overrun, StatedWorkNoLongerGivesABetterLevel) {
  Snapshot snapshot = two_waiting();
  for (int i = 0; i < 2; ++i) {
    Job& job = add_pending(snapshot, 1);
    hint(job, 5, 1000);
    job.time_limit = 86400;
  }
  const JobKey other = snapshot.jobs[1].key;
  const auto level = [&](const Config& config) {
    const auto services = round(snapshot, learnt(), config, kNow).memory.service;
    const auto found = std::ranges::find(services, other, &Service::job);
    return found != services.end() ? found->level : -1;
  };
  EXPECT_EQ(level(placing()), 0) << "the first time";
  snapshot.memory.overruns = {{7, kNow - 600, 99}};
  EXPECT_EQ(level(placing()), 1);
  Config off = placing();
  off.test_off.insert(Mechanism::kOverrun);
  EXPECT_EQ(level(off), 0);
}

TEST(Overrun, WorkIsNotKnownByAProfileOfOneJob) {
  const Snapshot snapshot = two_waiting();
  const JobId honest = snapshot.jobs[0].key.id;
  const JobId other = snapshot.jobs[1].key.id;
  EXPECT_EQ(order_of(snapshot, placing(), learnt(1)), (std::vector{honest, other}));
  EXPECT_EQ(order_of(snapshot, placing(), learnt(2)), (std::vector{other, honest}));
}

}  // namespace
}  // namespace rubato
