// SPDX-License-Identifier: GPL-2.0-or-later
// In a level, jobs with a small need go first, and all jobs rise while they wait.
#include "lib/policy/algorithms/need.h"

#include <gtest/gtest.h>

#include "lib/policy/algorithms/forecast.h"
#include "lib/policy/algorithms/job_forecast.h"
#include "lib/policy/algorithms/service.h"
#include "lib/policy/memory.h"
#include "lib/policy/prioritise.h"
#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::add_pending;
using test::kNow;
using test::make_cluster;

// A GPU of `fast` gives `known` 100 samples/s, one of `slow` 50.
Models learnt() {
  const std::map<std::string, double> speeds = {{"fast", 2.0}, {"slow", 1.0}};
  std::vector<ThroughputObservation> observations(2);
  observations[0].profile = observations[1].profile = {"lab", "known"};
  observations[0].gpu_type = "fast";
  observations[1].gpu_type = "slow";
  observations[0].throughput = 100;
  observations[1].throughput = 50;
  observations[0].samples = observations[1].samples = 1000;
  return Models(speeds, std::make_shared<const ThroughputModel>(TypeSpeeds(speeds), observations));
}

Job& hinted(Snapshot& snapshot, std::int64_t samples, int gpus = 1) {
  Job& job = add_pending(snapshot, gpus);
  job.account = "lab";
  job.eligible = kNow;
  job.hints.emplace();
  job.hints->job_type = "known";
  job.hints->work = Work{WorkUnit::kSamples, samples, 0};
  return job;
}

std::vector<JobNeed> needs_of(const Snapshot& snapshot, const Models& models) {
  const Config config;
  return expected_needs(snapshot, models, config, update_service(snapshot, models, config, kNow),
                        kNow);
}

std::vector<JobId> order_of(const Snapshot& snapshot, const Models& models) {
  const Config config;
  std::vector<JobId> ids;
  const auto service = update_service(snapshot, models, config, kNow);
  const auto needs = expected_needs(snapshot, models, config, service, kNow);
  for (const Job* job : prioritise(snapshot, config, service, needs)) ids.push_back(job->key.id);
  return ids;
}

TEST(JobNeed, WorkAndSpeedTellIt) {
  Snapshot snapshot = make_cluster({{"fast", 8}, {"slow", 8}});
  hinted(snapshot, 100'000);
  const std::vector<JobNeed> needs = needs_of(snapshot, learnt());
  ASSERT_EQ(needs.size(), 1U);
  EXPECT_TRUE(needs[0].told);
  EXPECT_NEAR(needs[0].gpu_seconds, 1000, 50);
  EXPECT_EQ(needs[0].response, 1);
}

TEST(JobNeed, IsThatOnATypeTheJobAccepts) {
  Snapshot snapshot = make_cluster({{"fast", 8}, {"slow", 8}});
  hinted(snapshot, 100'000).hints->gpu_types = {{"slow"}};
  hinted(snapshot, 100'000).request.gpu_type = "slow";
  const std::vector<JobNeed> needs = needs_of(snapshot, learnt());
  ASSERT_EQ(needs.size(), 2U);
  for (const JobNeed& need : needs) EXPECT_NEAR(need.gpu_seconds, 2000, 100) << "50 samples/s";
}

// 100 samples/s at a batch of 32, which most reports had, and 200 at 256.
Models with_batches() {
  std::vector<ThroughputObservation> observations;
  for (const auto& [batch, throughput, samples] :
       {std::tuple(32, 100.0, 5000), std::tuple(64, 125.0, 200), std::tuple(128, 160.0, 200),
        std::tuple(256, 200.0, 200)}) {
    ThroughputObservation one;
    one.profile = {"lab", "known"};
    one.gpu_type = "fast";
    one.throughput = throughput;
    one.samples = samples;
    one.batch = batch;
    observations.push_back(one);
  }
  return Models({}, std::make_shared<const ThroughputModel>(TypeSpeeds(), observations));
}

TEST(JobNeed, IsThatAtTheBatchOfTheJob) {
  Snapshot snapshot = make_cluster({{"fast", 8}});
  hinted(snapshot, 100'000).hints->batch = Batch{32, 32};
  hinted(snapshot, 100'000).hints->batch = Batch{256, 256};
  const std::vector<JobNeed> needs = needs_of(snapshot, with_batches());
  ASSERT_EQ(needs.size(), 2U);
  EXPECT_NEAR(needs[0].gpu_seconds, 1000, 50);
  EXPECT_NEAR(needs[1].gpu_seconds, 500, 25);
}

TEST(JobNeed, CountsEfficientSamplesAsRunningJobsDo) {
  Snapshot snapshot = make_cluster({{"fast", 8}});
  Job& pending = hinted(snapshot, 100'000);
  pending.hints->batch = Batch{32, 256};
  // Jobs of the profile ran at 256 with noise that makes a sample count half.
  const ReportedJob reported{
      .profile = {"lab", "known"}, .batch = Batch{32, 256}, .work = pending.hints->work};
  Progress other{.job = {99, 1}, .time = kNow, .throughput = 200, .batch = 256, .noise = 192};
  fold_report(other, snapshot.memory, reported);
  const double running = 100'000 / snapshot.memory.progress[0].goodput();
  EXPECT_DOUBLE_EQ(snapshot.memory.progress[0].efficiency, 0.5);
  Config config;
  config.test_off.insert(Mechanism::kPlans);  // the batch stays what it is
  fold_report({.job = pending.key, .time = kNow, .throughput = 200, .batch = 256}, snapshot.memory,
              reported);
  const Models models = with_batches();
  const Forecast forecast = forecast_for({snapshot, models, config, kNow}, pending, "fast", 1);
  EXPECT_NEAR(forecast.efficiency, 0.5, 0.02);
  EXPECT_NEAR(*work_left(snapshot, pending) / forecast.goodput(), running, 0.05 * running);
}

TEST(JobNeed, OneThatTellsNothingTakesTheUsualPartOfItsLimit) {
  Snapshot snapshot = make_cluster({{"fast", 8}, {"slow", 8}});
  for (const std::int64_t samples : {10'000, 100'000, 1'000'000}) hinted(snapshot, samples);
  const Seconds limits[] = {1'000, 2'000, 10'000};  // they use 1/10, 1/2 and all of these
  for (std::size_t i = 0; i < 3; ++i) snapshot.jobs[i].time_limit = limits[i];
  add_pending(snapshot, 4).time_limit = 4'000;
  for (Job& job : snapshot.jobs) job.account = "lab";
  const std::vector<JobNeed> needs = needs_of(snapshot, learnt());
  ASSERT_EQ(needs.size(), 4U);
  EXPECT_FALSE(needs[3].told);
  const double part = needs[1].gpu_seconds / 2'000;
  EXPECT_NEAR(needs[3].gpu_seconds, 4 * part * 4'000, 1e-6);
}

TEST(JobNeed, OneThatTellsNothingIsNeitherShorterNorLongerThanAllThatTell) {
  Snapshot snapshot = make_cluster({{"fast", 8}, {"slow", 8}});
  hinted(snapshot, 100'000).time_limit = 2'000;  // 1,000 s
  hinted(snapshot, 400'000).time_limit = 8'000;  // 4,000 s
  add_pending(snapshot, 1).time_limit = kForever / 2;
  add_pending(snapshot, 1).time_limit = 1'500;
  add_pending(snapshot, 1).time_limit = 600;
  for (Job& job : snapshot.jobs) job.account = "lab";
  const std::vector<JobNeed> needs = needs_of(snapshot, learnt());
  ASSERT_EQ(needs.size(), 5U);
  EXPECT_NEAR(needs[2].gpu_seconds, needs[1].gpu_seconds, 1e-6);
  EXPECT_NEAR(needs[3].gpu_seconds, needs[0].gpu_seconds, 1e-6);
  EXPECT_EQ(needs[4].gpu_seconds, 600) << "never beyond its own limit";
}

TEST(JobNeed, AFactorOfTwoMakesAClass) {
  Snapshot snapshot = make_cluster({{"fast", 8}, {"slow", 8}});
  hinted(snapshot, 100'000);
  hinted(snapshot, 200'000);
  const std::vector<JobNeed> needs = needs_of(snapshot, learnt());
  ASSERT_EQ(needs.size(), 2U);
  EXPECT_NEAR(needs[1].gpu_seconds, 2 * needs[0].gpu_seconds, 1e-6);
  EXPECT_EQ(needs[1].size_class, needs[0].size_class + 1);
}

TEST(JobNeed, NobodyTellsAnything) {
  Snapshot snapshot = make_cluster({{"fast", 8}, {"slow", 8}});
  add_pending(snapshot, 8);
  add_pending(snapshot, 1);
  EXPECT_TRUE(needs_of(snapshot, learnt()).empty());
  EXPECT_EQ(order_of(snapshot, learnt()), (std::vector<JobId>{1, 2}));
  Snapshot unmeasured = make_cluster({{"fast", 8}, {"slow", 8}});
  hinted(unmeasured, 1'000'000);
  hinted(unmeasured, 1'000);
  EXPECT_EQ(order_of(unmeasured, Models({{"fast", 2.0}})), (std::vector<JobId>{1, 2}));
}

TEST(JobNeed, LittleGoesFirstAndWhatIsAlikeKeepsSlurmsOrder) {
  Snapshot snapshot = make_cluster({{"fast", 8}, {"slow", 8}});
  hinted(snapshot, 1'000'000);  // 10,000 s
  hinted(snapshot, 1'100'000);
  hinted(snapshot, 20'000);  // 200 s
  EXPECT_EQ(order_of(snapshot, learnt()), (std::vector<JobId>{3, 1, 2}));
}

TEST(JobNeed, WaitingRaisesHoweverMuchIsNeeded) {
  Snapshot snapshot = make_cluster({{"fast", 8}, {"slow", 8}});
  hinted(snapshot, 320'000);  // 3,200 s
  hinted(snapshot, 20'000);   // 200 s
  EXPECT_EQ(order_of(snapshot, learnt()), (std::vector<JobId>{2, 1}));
  snapshot.jobs[0].eligible = kNow - 32 * 3200;
  EXPECT_EQ(order_of(snapshot, learnt()), (std::vector<JobId>{1, 2}));
  EXPECT_NEAR(needs_of(snapshot, learnt())[0].response, 33, 2);
}

TEST(JobNeed, SetPrioritiesBandsAndTiersComeBeforeIt) {
  Snapshot snapshot = make_cluster({{"fast", 8}, {"slow", 8}});
  hinted(snapshot, 1'000'000).priority = 1000;
  hinted(snapshot, 20'000).priority = 1000;
  snapshot.jobs[0].priority_set = true;
  EXPECT_EQ(order_of(snapshot, learnt()), (std::vector<JobId>{1, 2}));
  snapshot.jobs[0].priority_set = false;
  snapshot.jobs[0].tier = 2;
  EXPECT_EQ(order_of(snapshot, learnt()), (std::vector<JobId>{1, 2}));
  snapshot.jobs[0].tier = snapshot.jobs[1].tier;
  EXPECT_EQ(order_of(snapshot, learnt()), (std::vector<JobId>{2, 1}));
}

TEST(JobNeed, ExplainTellsTheNumbers) {
  Snapshot snapshot = make_cluster({{"fast", 4}});
  hinted(snapshot, 100'000, 4);
  Config config;
  config.mode = Mode::kPlace;
  config.manage_all = true;
  const Plan plan = round(snapshot, learnt(), config, kNow);
  ASSERT_EQ(plan.explanations.size(), 1U);
  std::map<std::string, std::string> facts(plan.explanations[0].facts.begin(),
                                           plan.explanations[0].facts.end());
  EXPECT_NE(facts["need"].find(" GPU-seconds, by its own work and speed"), std::string::npos);
  EXPECT_EQ(facts["response_ratio"], "1.0");
  EXPECT_FALSE(facts["size_class"].empty());
  config.test_off.insert(Mechanism::kNeeds);
  const Plan off = round(snapshot, learnt(), config, kNow);
  for (const auto& [name, value] : off.explanations[0].facts) EXPECT_NE(name, "need") << value;
}

}  // namespace
}  // namespace rubato
