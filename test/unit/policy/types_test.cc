// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs go to the GPU type that suits them by the models, decided for all jobs together.
#include "lib/policy/algorithms/type_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/json/json.h"
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

Config placing() { return test::managing_all(Mode::kPlace); }

ThroughputObservation observation(const char* job_type, const char* gpu_type, double throughput,
                                  int gpus = 1) {
  return {{"lab", job_type}, gpu_type, gpus, throughput, 20};
}

// `odd` is faster on the type that is slow in rubato.conf.
Models learnt() {
  const std::map<std::string, double> speeds = {{"fast", 4.0}, {"slow", 1.0}};
  auto model = std::make_shared<const ThroughputModel>(
      TypeSpeeds(speeds), std::vector<ThroughputObservation>{observation("odd", "fast", 100),
                                                             observation("odd", "slow", 300),
                                                             observation("usual", "fast", 400),
                                                             observation("usual", "slow", 100)});
  return Models(speeds, model);
}

Job& hinted(Snapshot& snapshot, const char* job_type, int gpus = 1, std::int64_t samples = 30000) {
  Job& job = add_pending(snapshot, gpus);
  job.account = "lab";
  job.hints.emplace();
  job.hints->job_type = job_type;
  job.hints->work = Work{WorkUnit::kSamples, samples, 0};
  return job;
}

std::map<JobId, std::string> types_started(const Plan& plan) {
  std::map<JobId, std::string> types;
  for (const Start& start : plan.starts) types[start.job.id] = start.gpu_type;
  return types;
}

TEST(ChooseTypes, AJobGoesToTheTypeItIsFastOn) {
  Snapshot snapshot = make_cluster({{"fast", 4}, {"slow", 4}});
  hinted(snapshot, "odd");
  hinted(snapshot, "usual");
  add_pending(snapshot, 1);
  const auto types = types_started(round(snapshot, learnt(), placing(), kNow));
  EXPECT_EQ(types.at(1), "slow");
  EXPECT_EQ(types.at(2), "fast");
  EXPECT_EQ(types.at(3), "fast") << "unhinted: as ever";
}

TEST(ChooseTypes, AJobWhoseHintsNameATypeStartsOnThePlannedNodesOnly) {
  Snapshot snapshot = make_cluster({{"fast", 4}, {"slow", 4}});
  hinted(snapshot, "usual");
  Plan plan = round(snapshot, learnt(), placing(), kNow);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_TRUE(plan.starts[0].elsewhere);
  snapshot.jobs[0].hints->gpu_types = {{"slow"}};
  plan = round(snapshot, Models(), placing(), kNow);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].gpu_type, "slow");
  EXPECT_FALSE(plan.starts[0].elsewhere) << "Slurm would take the other type";
}

TEST(ChooseTypes, WithoutAModelTheSpeedsDecide) {
  Snapshot snapshot = make_cluster({{"fast", 4}, {"slow", 4}});
  hinted(snapshot, "odd");
  const Models unlearnt({{"fast", 4.0}, {"slow", 1.0}});
  EXPECT_EQ(types_started(round(snapshot, unlearnt, placing(), kNow)).at(1), "fast");
  Config off = placing();
  off.test_off.insert(Mechanism::kForecast);
  EXPECT_EQ(types_started(round(snapshot, learnt(), off, kNow)).at(1), "fast");
}

TEST(ChooseTypes, OneWaitsForItsTypeRatherThanRunForLongElsewhere) {
  Snapshot snapshot = make_cluster({{"fast", 1}, {"slow", 1}});
  Job& running = add_running(snapshot, {share_of(snapshot, 0, 1)}, kNow + 30);
  running.start = kNow - 30;
  hinted(snapshot, "usual", 1, 400 * 600);  // 600 s on fast, 2400 s on slow
  Plan plan = round(snapshot, learnt(), placing(), kNow);
  EXPECT_TRUE(plan.starts.empty());
  EXPECT_THAT(plan.explanations[0].reason, HasSubstr("best off on fast"));
  EXPECT_THAT(plan.explanations[0].reason, HasSubstr("samples/s (20 reports, within"));

  // Waiting for a long run is worse than the slow type.
  for (Job& job : snapshot.jobs) {
    if (job.state != JobState::kRunning) continue;
    job.start = kNow - 36000;
    job.end_limit = kNow + 36000;
  }
  plan = round(snapshot, learnt(), placing(), kNow);
  ASSERT_EQ(plan.starts.size(), 1U) << plan.explanations[0].reason;
  EXPECT_EQ(plan.starts[0].gpu_type, "slow");
}

TEST(ChooseTypes, AJobOfUnknownWorkIsTakenToRunAsLongAsThoseThatRun) {
  Snapshot snapshot = make_cluster({{"fast", 1}, {"slow", 1}});
  add_running(snapshot, {share_of(snapshot, 0, 1)}, kNow + 100 * 3600);
  hinted(snapshot, "usual").hints->work.reset();
  // As long again is left: the wait is half of its run on fast, which is a quarter of that on slow.
  for (const Seconds run : {60, 600, 10 * 3600}) {
    for (Job& job : snapshot.jobs) {
      if (job.state == JobState::kRunning) job.start = kNow - run;
    }
    const Plan plan = round(snapshot, learnt(), placing(), kNow);
    EXPECT_TRUE(plan.starts.empty()) << run;
  }
}

TEST(ChooseTypes, PatienceEndsBeforeAJobCouldStarve) {
  // The fast GPU is busy for so long; 600 s on fast, 2400 s on slow.
  for (const Seconds busy : {30, 1300}) {
    Snapshot snapshot = make_cluster({{"fast", 1}, {"slow", 1}});
    Job& running = add_running(snapshot, {share_of(snapshot, 0, 1)}, kNow + busy);
    running.start = kNow - busy;
    Job& job = hinted(snapshot, "usual", 1, 400 * 600);
    job.eligible = kNow - placing().reserve_after;
    EXPECT_TRUE(round(snapshot, learnt(), placing(), kNow).starts.empty());
    for (Job& one : snapshot.jobs) {
      if (one.state == JobState::kPending) one.eligible = kNow - placing().starvation_bound / 2;
    }
    const Plan plan = round(snapshot, learnt(), placing(), kNow);
    if (busy == 30) {
      EXPECT_TRUE(plan.starts.empty()) << "it would keep the slow GPU for a time that is too long";
      continue;
    }
    ASSERT_EQ(plan.starts.size(), 1U) << plan.explanations[0].reason;
    EXPECT_EQ(plan.starts[0].gpu_type, "slow");
  }
}

TEST(ChooseTypes, AJobWithoutAProfileWaitsForAFasterTypeUntilReserveAfterOnly) {
  Snapshot snapshot = make_cluster({{"fast", 1}, {"slow", 1}});
  Job& running = add_running(snapshot, {share_of(snapshot, 0, 1)}, kNow + 5);
  running.start = kNow - 1;
  hinted(snapshot, "usual", 1, 400 * 6000);  // so that run times are known
  snapshot.jobs[0].block = Block::kLimit;
  add_pending(snapshot, 1);
  const std::map<std::string, double> speeds = {{"fast", 4.0}, {"slow", 1.0}};
  const Models models(speeds, std::make_shared<const ThroughputModel>(
                                  TypeSpeeds(speeds), std::vector<ThroughputObservation>{
                                                          observation("usual", "fast", 400),
                                                          observation("usual", "slow", 100)}));
  EXPECT_TRUE(round(snapshot, models, placing(), kNow).starts.empty());
  for (Job& job : snapshot.jobs) {
    if (!job.hints) job.eligible = kNow - placing().reserve_after;
  }
  const auto types = types_started(round(snapshot, models, placing(), kNow));
  ASSERT_EQ(types.size(), 1U);
  EXPECT_EQ(types.begin()->second, "slow");
}

TEST(ChooseTypes, WhatWasLearntOfOthersCorrectsTheConfiguredSpeeds) {
  Snapshot snapshot = make_cluster({{"fast", 4}, {"slow", 4}});
  add_pending(snapshot, 1);
  const std::map<std::string, double> wrong = {{"fast", 1.0}, {"slow", 2.0}};
  std::vector<ThroughputObservation> observations;
  EXPECT_EQ(types_started(round(snapshot, Models(wrong), placing(), kNow)).at(1), "slow");
  for (const char* job_type : {"a", "b", "c"}) {
    observations.push_back(observation(job_type, "fast", 400));
    observations.push_back(observation(job_type, "slow", 100));
  }
  const Models models(
      wrong, std::make_shared<const ThroughputModel>(TypeSpeeds(wrong), std::move(observations)));
  EXPECT_EQ(types_started(round(snapshot, models, placing(), kNow)).at(1), "fast");
}

TEST(ChooseTypes, AHintThatNamesTypesBinds) {
  Snapshot snapshot = make_cluster({{"fast", 4}, {"slow", 4}});
  hinted(snapshot, "odd").hints->gpu_types = {{"fast"}};
  add_pending(snapshot, 1).hints.emplace().gpu_types = {{"slow"}, {"fast"}};
  const auto types = types_started(round(snapshot, learnt(), placing(), kNow));
  EXPECT_EQ(types.at(1), "fast");
  EXPECT_EQ(types.at(2), "slow") << "its order, not the speed";
}

TEST(ChooseTypes, ATypeThatIsNotNamedIsNeverTakenEvenIfNoOtherCarries) {
  Snapshot snapshot = make_cluster({{"fast", 2}, {"slow", 2}});
  add_pending(snapshot, 4).hints.emplace().gpu_types = {{"fast"}};
  add_pending(snapshot, 4);
  const Plan plan = round(snapshot, learnt(), placing(), kNow);
  for (const Start& start : plan.starts) EXPECT_NE(start.job.id, 1U);
  EXPECT_EQ(plan.starts.size(), 1U) << "the other mixes types, as under stock Slurm";
}

TEST(ChooseTypes, AJobThatWaitsForItsTypeMixesTypesOnlyIfThatIsAsFast) {
  Snapshot snapshot = make_cluster({{"fast", 4}, {"slow", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 2)}, kNow + 60);
  add_running(snapshot, {share_of(snapshot, 1, 2)}, kNow + 60);
  Job& job = hinted(snapshot, "odd");
  job.request.gpus = 4;
  job.hints->mix_types = true;
  const Plan plan = round(snapshot, learnt(), placing(), kNow);
  EXPECT_TRUE(plan.starts.empty()) << "2 fast and 2 slow are slower than 4 fast in a minute";
  snapshot.jobs.front().hints->job_type = "unknown";
  EXPECT_EQ(round(snapshot, learnt(), placing(), kNow).starts.size(), 1U) << "it waits for no type";
}

TEST(ChooseTypes, AJobIsNotMatchedToATypeWithTooFewNodes) {
  // Two nodes of `fast` have GPUs enough for it, but it asks for three nodes.
  Snapshot snapshot = make_cluster(
      {{"fast", 8}, {"fast", 8}, {"slow", 4}, {"slow", 4}, {"slow", 4}, {"slow", 4}, {"last", 4}});
  add_running(snapshot, {share_of(snapshot, 6, 2)}, kNow + 1000);
  hinted(snapshot, "odd", 4).hints->gpu_types = {{"last"}};
  Job& wide = add_pending(snapshot, 12);
  wide.request.min_nodes = wide.request.max_nodes = 3;
  wide.request.fixed_nodes = true;
  const JobId id = wide.key.id;
  const Plan plan = round(snapshot, learnt(), placing(), kNow);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].job.id, id);
  EXPECT_EQ(plan.starts[0].gpu_type, "slow");
  EXPECT_EQ(plan.starts[0].shares.size(), 3U);
}

// The more GPUs a type has, the less a start on one of them delays those who wait for it.
TEST(ChooseTypes, ANodeThatEndsAJobCountsForItsType) {
  constexpr int kWaiting = 12;
  Snapshot snapshot = make_cluster({{"fast", 8}, {"slow", 4}, {"slow", 4}});
  hinted(snapshot, "odd");
  for (int i = 0; i < kWaiting; ++i) add_pending(snapshot, 4).request.gpu_type = "slow";
  const auto type = [&] { return types_started(round(snapshot, learnt(), placing(), kNow)).at(1); };
  ASSERT_EQ(type(), "slow");
  Node& ending = snapshot.nodes[NodeIndex{2}];
  ending.usable = false;
  ending.coming = true;
  EXPECT_EQ(type(), "slow") << "completing";
  ending.coming = false;
  EXPECT_EQ(type(), "fast") << "down: too few are left";
  const Plan plan = round(snapshot, learnt(), placing(), kNow);
  EXPECT_THAT(plan.explanations[0].reason, HasSubstr("; 12 jobs wait for slow, so it takes fast"));
}

TEST(ChooseTypes, TheJobThatGainsLessGivesWay) {
  Snapshot snapshot = make_cluster({{"fast", 1}, {"slow", 1}});
  const std::map<std::string, double> speeds = {{"fast", 4.0}, {"slow", 1.0}};
  const Models models(speeds,
                      std::make_shared<const ThroughputModel>(
                          TypeSpeeds(speeds),
                          std::vector<ThroughputObservation>{
                              observation("keen", "fast", 400), observation("keen", "slow", 50),
                              observation("calm", "fast", 120), observation("calm", "slow", 100)}));
  hinted(snapshot, "calm", 1, 12000);
  hinted(snapshot, "keen", 1, 40000);
  const auto types = types_started(round(snapshot, models, placing(), kNow));
  EXPECT_EQ(types.at(1), "slow") << "though it comes first";
  EXPECT_EQ(types.at(2), "fast");
}

TEST(ChooseTypes, ExplainNamesTheNumbersThatDecided) {
  Snapshot snapshot = make_cluster({{"fast", 4}, {"slow", 4}});
  hinted(snapshot, "odd");
  const Plan plan = round(snapshot, learnt(), placing(), kNow);
  const Explanation& said = plan.explanations.at(0);
  EXPECT_THAT(said.reason, HasSubstr("%) and on fast"));
  const auto fact = [&](const std::string& name) {
    for (const auto& [key, value] : said.facts) {
      if (key == name) return value;
    }
    return std::string("none");
  };
  EXPECT_EQ(fact("matched"), "slow");
  EXPECT_THAT(fact("rate.fast"), HasSubstr("samples/s"));
}

// Sizes.

Job& elastic(Snapshot& snapshot, int gpus, std::vector<GpuSizes::Range> sizes,
             std::int64_t samples = 30000) {
  Job& job = hinted(snapshot, "odd", gpus, samples);
  job.hints->sizes = GpuSizes(std::move(sizes));
  return job;
}

TEST(Sizes, AJobGrowsWhereNobodyElseWaits) {
  Snapshot snapshot = make_cluster({{"fast", 4}, {"slow", 4}});
  elastic(snapshot, 2, {{1, 4}});
  const Plan plan = round(snapshot, learnt(), placing(), kNow);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].gpus, 4);
  EXPECT_EQ(plan.starts[0].gpu_type, "slow");
}

TEST(Sizes, AJobKeepsItsSizeWithoutAChoiceOrAForecast) {
  Snapshot snapshot = make_cluster({{"fast", 4}, {"slow", 4}});
  elastic(snapshot, 1, {{1, 4}}).hints->job_type = "new";
  elastic(snapshot, 1, {{1, 4}}).batch = false;
  elastic(snapshot, 1, {{1, 4}}).array_id = 3;
  elastic(snapshot, 1, {{1, 1}});
  const Plan plan = round(snapshot, learnt(), placing(), kNow);
  ASSERT_EQ(plan.starts.size(), 4U);
  for (const Start& start : plan.starts) EXPECT_EQ(start.gpus, 0) << start.job.id;
}

TEST(Sizes, AJobTakesLessRatherThanWaitIfItsTimeLimitAllows) {
  Snapshot snapshot = make_cluster({{"slow", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 3)}, kNow + 3600);
  elastic(snapshot, 4, {{1, 4}}, 300 * 600);
  Plan plan = round(snapshot, learnt(), placing(), kNow);
  ASSERT_EQ(plan.starts.size(), 1U) << plan.explanations[0].reason;
  EXPECT_EQ(plan.starts[0].gpus, 1);
  snapshot.jobs[0].time_limit = 700;
  plan = round(snapshot, learnt(), placing(), kNow);
  EXPECT_TRUE(plan.starts.empty()) << "600 s on one GPU are too near to the limit";
  snapshot.jobs[0].time_limit = 3600;
  snapshot.jobs[0].hints->work.reset();
  EXPECT_TRUE(round(snapshot, learnt(), placing(), kNow).starts.empty())
      << "nobody knows how long it would take";
}

TEST(Sizes, ATypeInTheRequestBindsTheTypeAndNotTheSize) {
  Snapshot snapshot = make_cluster({{"slow", 4}, {"fast", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 3)}, kNow + 3600);
  elastic(snapshot, 4, {{1, 4}}, 300 * 600).request.gpu_type = "slow";
  Plan plan = round(snapshot, learnt(), placing(), kNow);
  ASSERT_EQ(plan.starts.size(), 1U) << plan.explanations[0].reason;
  EXPECT_EQ(plan.starts[0].gpus, 1);
  EXPECT_EQ(plan.starts[0].gpu_type, "slow");

  snapshot = make_cluster({{"slow", 4}, {"fast", 4}});
  elastic(snapshot, 2, {{1, 4}}).request.gpu_type = "fast";
  plan = round(snapshot, learnt(), placing(), kNow);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].gpus, 4);
  EXPECT_EQ(plan.starts[0].gpu_type, "fast") << "faster on slow, which the request excludes";
  snapshot.jobs[0].hints->sizes = GpuSizes();
  plan = round(snapshot, learnt(), placing(), kNow);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].gpus, 0);
}

TEST(Sizes, AJobTakesNoLessOnATypeThatItsJobTypeWasNeverMeasuredOn) {
  const std::map<std::string, double> speeds = {{"fast", 4.0}, {"slow", 1.0}};
  const Models models(speeds, std::make_shared<const ThroughputModel>(
                                  TypeSpeeds(speeds), std::vector<ThroughputObservation>{
                                                          observation("odd", "fast", 1200),
                                                          observation("usual", "fast", 400),
                                                          observation("usual", "slow", 100)}));
  Snapshot snapshot = make_cluster({{"slow", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 3)}, kNow + 3600);
  elastic(snapshot, 4, {{1, 4}}, 300 * 100);
  EXPECT_TRUE(round(snapshot, models, placing(), kNow).starts.empty());
  EXPECT_EQ(round(snapshot, learnt(), placing(), kNow).starts.size(), 1U) << "measured there";
}

TEST(Sizes, AfterARefusedRewriteItIsPlannedAsRequested) {
  Snapshot snapshot = make_cluster({{"fast", 4}, {"slow", 4}});
  const JobKey key = elastic(snapshot, 1, {{1, 4}}).key;
  JobMemory memory;
  memory.job = key;
  memory.refusal = "another size: the request did not read back";
  snapshot.memory.jobs = {memory};
  const Plan plan = round(snapshot, learnt(), placing(), kNow);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].gpus, 0);
}

using SizeWords = std::map<int, std::string>;

SizeWords size_words(const Explanation& said) {
  SizeWords words;
  for (const SizeOutcome& size : said.sizes) words[size.gpus] = size.outcome;
  return words;
}

TEST(Sizes, ExplainSaysWhyAPendingJobTakesNoOtherSize) {
  Snapshot snapshot = make_cluster({{"slow", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 3)}, kNow + 3600);
  elastic(snapshot, 4, {{1, 4}}, 300 * 600).time_limit = 700;
  Explanation said = round(snapshot, learnt(), placing(), kNow).explanations.at(0);
  EXPECT_EQ(size_words(said), (SizeWords{{1, "time-limit"}, {2, "no-room"}, {4, "no-room"}}));
  EXPECT_THAT(said.reason, HasSubstr("; sizes not taken: 1 (it might not end within its time "
                                     "limit), 2 (no room now)"));
  snapshot.jobs[0].hints->work.reset();
  said = round(snapshot, learnt(), placing(), kNow).explanations.at(0);
  EXPECT_THAT(said.reason, HasSubstr("1 (its work is not known), 2 (its work is not known)"));
}

TEST(Sizes, TheRequestedSizeStaysOpenHoweverMuchArrives) {
  // A hundred jobs came in the last second. On one GPU the job would not end within its time limit.
  Snapshot snapshot = make_cluster({{"slow", 4}});
  snapshot.memory.loads = {{"slow", kNow, 1, 100, 100, 100, 100 * 3600.0}};
  add_running(snapshot, {share_of(snapshot, 0, 2)}, kNow + 3600);
  elastic(snapshot, 4, {{1, 1}, {4, 4}}, 300 * 600).time_limit = 700;
  const Explanation said = round(snapshot, learnt(), placing(), kNow).explanations.at(0);
  EXPECT_EQ(size_words(said), (SizeWords{{1, "time-limit"}, {4, "no-room"}}));
}

TEST(Sizes, ACostBelowZeroIsPublishedAsASecond) {
  // A hundred jobs came in the last second: one GPU in place of four saves them more than it costs.
  Snapshot snapshot = make_cluster({{"slow", 4}});
  snapshot.memory.loads = {{"slow", kNow, 1, 100, 100, 100, 100 * 3600.0}};
  add_running(snapshot, {share_of(snapshot, 0, 2)}, kNow + 3600);
  elastic(snapshot, 4, {{1, 1}, {4, 4}}, 300 * 600).time_limit = 36000;
  const Plan plan = round(snapshot, learnt(), placing(), kNow);
  const Explanation& said = plan.explanations.at(0);
  ASSERT_EQ(size_words(said), (SizeWords{{1, "taken"}, {4, "no-room"}}));
  EXPECT_EQ(said.sizes[0].cost, 1);
  EXPECT_TRUE(plan_from_json(to_json(plan, snapshot), snapshot));
}

TEST(Sizes, TheRequestedSizeCostsWhatItDidInTheChoiceOfTheType) {
  // Those who will come count between sizes. A hundred of them do not make its own size cost more.
  const auto cost_of_own = [](const std::vector<TypeLoad>& loads) {
    Snapshot snapshot = make_cluster({{"slow", 4}});
    snapshot.memory.loads = loads;
    elastic(snapshot, 4, {{1, 1}, {4, 4}}, 300 * 600).time_limit = 700;
    const Explanation said = round(snapshot, learnt(), placing(), kNow).explanations.at(0);
    for (const SizeOutcome& size : said.sizes)
      if (size.gpus == 4) return size.cost;
    return Seconds{-1};
  };
  const Seconds alone = cost_of_own({});
  EXPECT_GT(alone, 0);
  EXPECT_EQ(cost_of_own({{"slow", kNow, 1, 100, 100, 100, 100 * 3600.0}}), alone);
}

TEST(Sizes, ExplainSaysThatWaitingIsShorterThanASmallSize) {
  // 3 of 4 GPUs come free after 30 s; the job runs 600 s on 4 GPUs, and much longer on one.
  Snapshot snapshot = make_cluster({{"slow", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 3)}, kNow + 30).time_limit = 60;
  elastic(snapshot, 4, {{1, 4}}, 4 * 300 * 600).time_limit = 36000;
  const Explanation said = round(snapshot, learnt(), placing(), kNow).explanations.at(0);
  ASSERT_EQ(said.sizes.size(), 3U) << said.reason;
  EXPECT_EQ(said.sizes[0].outcome, "costs-more");
  EXPECT_GT(said.sizes[0].cost, said.sizes[2].cost);
  EXPECT_EQ(said.sizes[0].gpu_type, "slow");
  EXPECT_NEAR(said.sizes[0].throughput, 300, 30);
  EXPECT_THAT(said.reason, HasSubstr("; sizes not taken: 1 (costs 0"));
  EXPECT_THAT(said.reason, HasSubstr(", 4 with the wait 0"));
}

TEST(Sizes, AJobDoesNotStartWhereItWouldRunForLong) {
  // On one GPU it runs four times as long as on four, which come free after a tenth of that. A
  // hundred jobs that came in the last second make GPU-seconds dear, but it would keep that size.
  Snapshot snapshot = make_cluster({{"slow", 4}});
  snapshot.memory.loads = {{"slow", kNow, 1, 100, 100, 100, 100 * 3600.0}};
  add_running(snapshot, {share_of(snapshot, 0, 2)}, kNow + 60).time_limit = 120;
  elastic(snapshot, 4, {{1, 1}, {4, 4}}, 300 * 600).time_limit = 36000;
  const Explanation said = round(snapshot, learnt(), placing(), kNow).explanations.at(0);
  EXPECT_EQ(size_words(said), (SizeWords{{1, "too-slow"}, {4, "no-room"}}));
  EXPECT_THAT(said.reason, HasSubstr("1 (it would take longer than the wait and twice its run as "
                                     "requested)"));
}

TEST(Sizes, ExplainSaysWhatAStartAtAnotherSizePassedOver) {
  Snapshot snapshot = make_cluster({{"slow", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 3)}, kNow + 3600);
  elastic(snapshot, 4, {{1, 4}}, 300 * 600);
  const Explanation said = round(snapshot, learnt(), placing(), kNow).explanations.at(0);
  EXPECT_EQ(said.verdict, Verdict::kStart);
  EXPECT_EQ(size_words(said), (SizeWords{{1, "taken"}, {2, "no-room"}, {4, "no-room"}}));
  EXPECT_THAT(said.reason, HasSubstr("; sizes not taken: 2 (no room now), 4 (no room now)"));
}

TEST(Sizes, ExplainSaysWhyAJobKeepsItsSize) {
  Snapshot snapshot = make_cluster({{"fast", 4}, {"slow", 4}});
  elastic(snapshot, 1, {{1, 4}}).hints->job_type = "new";
  elastic(snapshot, 1, {{1, 4}}).batch = false;
  elastic(snapshot, 1, {{1, 4}}).array_id = 3;
  elastic(snapshot, 1, {{1, 4}}).size_bound = "--nodelist names its nodes";
  elastic(snapshot, 1, {{1, 1}});
  const Plan plan = round(snapshot, learnt(), placing(), kNow);
  const auto reason = [&](std::size_t i) { return plan.explanations.at(i).reason; };
  EXPECT_THAT(reason(0), HasSubstr("; it keeps its size: nothing is known of the speed of"));
  EXPECT_THAT(reason(1), HasSubstr("; it keeps its size: salloc and srun start with what"));
  EXPECT_THAT(reason(2), HasSubstr("; it keeps its size: tasks of an array start with what"));
  EXPECT_THAT(plan.explanations.at(3).reason, HasSubstr("--nodelist names its nodes"));
  EXPECT_THAT(reason(4), ::testing::Not(HasSubstr("size")));
}

TEST(Sizes, WithManyBehindItAJobTakesWhatScalesWell) {
  // Two GPUs of this type are barely faster than one.
  const std::map<std::string, double> speeds = {{"slow", 1.0}};
  const Models models(speeds, std::make_shared<const ThroughputModel>(
                                  TypeSpeeds(speeds), std::vector<ThroughputObservation>{
                                                          observation("odd", "slow", 300, 1),
                                                          observation("odd", "slow", 330, 2),
                                                          observation("odd", "slow", 350, 4)}));
  Snapshot snapshot = make_cluster({{"slow", 4}});
  for (int i = 0; i < 8; ++i) elastic(snapshot, 4, {{1, 4}}, 300 * 600);
  const Plan plan = round(snapshot, models, placing(), kNow);
  ASSERT_EQ(plan.starts.size(), 4U);
  for (const Start& start : plan.starts) EXPECT_EQ(start.gpus, 1);
}

}  // namespace
}  // namespace rubato
