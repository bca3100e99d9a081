// SPDX-License-Identifier: GPL-2.0-or-later
// The load of a GPU type, the resulting cost of a GPU-second, and the sizes that jobs then get.
#include "lib/policy/algorithms/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lib/json/json.h"
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

// A job that needs this many seconds on one GPU.
LoadArrival told(double seconds, Seconds since) { return {"a", 1, 1, 1, seconds, since}; }

// One job of 1000 s every 50 s, for a long time.
std::vector<TypeLoad> steady(Seconds until, Seconds every = 50) {
  std::vector<TypeLoad> loads;
  for (Seconds time = 0; time < until; time += every) {
    loads = update_loads(std::move(loads), {told(1000, kNow + time)}, kNow + time);
  }
  return loads;
}

TEST(LoadOfAPool, IsTheWorkThatArrivesAsAShareOfTheGpus) {
  const PoolLoad load = load_of(steady(100'000), "a", 40, kNow + 100'000);
  EXPECT_NEAR(load.load, 0.5, 0.01);
  EXPECT_NEAR(load.jobs, 1.0 / 50, 0.0005);
  EXPECT_NEAR(load.seconds, 1000, 1e-6);
  EXPECT_NEAR(load.need, 1000, 1e-6);
  EXPECT_NEAR(load.gpus, 1, 1e-9);
  EXPECT_NEAR(load.span, kLoadSpan * 1000, 1e-6);
}

TEST(LoadOfAPool, DoesNotDependOnTheLengthOfJobs) {
  std::vector<TypeLoad> loads;
  for (int i = 0; i < 2000; ++i) {
    loads = update_loads(std::move(loads), {told(10, kNow + i)}, kNow + i);
  }
  EXPECT_NEAR(load_of(loads, "a", 20, kNow + 2000).load, 0.5, 0.02) << "one job of 10 s a second";
}

TEST(LoadOfAPool, ForgetsWithinAFewRunTimes) {
  const std::vector<TypeLoad> loads = steady(100'000);
  const Seconds later = kNow + 100'000 + static_cast<Seconds>(kLoadSpan * 1000);
  EXPECT_NEAR(load_of(loads, "a", 40, later).load, 0.5 / std::exp(1.0), 0.01);
}

TEST(LoadOfAPool, NothingIsKnownBeforeARunTimeIs) {
  const std::vector<TypeLoad> loads = update_loads({}, {{"a", 1, 4, 0, 0, kNow}}, kNow);
  EXPECT_DOUBLE_EQ(load_of(loads, "a", 8, kNow + 100).load, 0);
  EXPECT_DOUBLE_EQ(load_of({}, "a", 8, kNow).load, 0);
  EXPECT_DOUBLE_EQ(load_of(steady(1000), "b", 8, kNow).load, 0);
  EXPECT_DOUBLE_EQ(load_of(steady(1000), "a", 0, kNow).load, 0);
  // Earlier jobs count as soon as their need is known.
  const auto after = update_loads(loads, {{"a", 0, 0, 4, 4000, kNow}}, kNow + 100);
  EXPECT_NEAR(load_of(after, "a", 8, kNow + 100).load, 4000.0 / 100 / 8, 1e-9);
}

TEST(LoadOfAPool, TheOrderOfArrivalsDecidesNothing) {
  const std::vector<LoadArrival> one = {
      told(0.1, kNow), told(1e9, kNow - 5), {"b", 0.3, 1, 0, 0, kNow}};
  const std::vector<LoadArrival> other = {one[2], one[1], one[0]};
  EXPECT_EQ(update_loads({}, one, kNow + 7), update_loads({}, other, kNow + 7));
}

PoolState pool_of(double load, int gpus = 40) {
  PoolState pool;
  pool.gpus = gpus;
  pool.load = {load * gpus / 1000, 1000, 1, 1000, load, 0, 4000};
  pool.finish_holds();
  return pool;
}

TEST(PriceOfAGpuSecond, IsNothingWithoutLoad) {
  EXPECT_DOUBLE_EQ(delayed_to_come(pool_of(0), {}, 40, 1e6), 0);
  EXPECT_DOUBLE_EQ(delayed_to_come(PoolState(), {}, 1, 100), 0);
}

TEST(PriceOfAGpuSecond, RisesWithTheLoadAndStaysFinite) {
  double last = 0;
  for (double load = 0.05; load < 3; load += 0.05) {
    const double now = delayed_to_come(pool_of(load), {10, 10, 10000}, 4, 1000);
    EXPECT_GE(now, last) << load;
    last = now;
  }
  // At most the jobs that arrive within the period.
  EXPECT_LE(last, 3.0 * 40 / 1000 * 4000);
  EXPECT_GT(last, 100);
}

TEST(PriceOfAGpuSecond, IsThatOfASingleServerWhereAllGpusAreHeld) {
  PoolState pool;
  pool.gpus = 1;
  pool.load = {0.0005, 1000, 1, 1000, 0.5, 0, 1e9};
  pool.add_held(50, 1e9);  // no job finds a free one
  pool.finish_holds();
  // lambda (V + w / 2) / (1 - rho), with one job of 1000 s ahead and w = 200.
  EXPECT_NEAR(delayed_to_come(pool, {}, 1, 200), 0.0005 * 1100 / 0.5, 1e-9);
  EXPECT_NEAR(delayed_to_come(pool, {3, 3, 5000}, 1, 200), 0.0005 * 6100 / 0.5, 1e-9);
}

TEST(PriceOfAGpuSecond, HeldGpusCountUntilTheyComeFree) {
  PoolState soon = pool_of(0.1);
  soon.add_held(38, 10);
  soon.finish_holds();
  PoolState late = pool_of(0.1);
  late.add_held(38, 5000);
  late.finish_holds();
  EXPECT_LT(chance_of_wait(soon, {}, 2, 1000), 0.1);
  EXPECT_GT(chance_of_wait(late, {}, 2, 1000), 0.9);
  EXPECT_DOUBLE_EQ(late.held_after(4999), 38);
  EXPECT_DOUBLE_EQ(late.held_after(5000), 0);
  EXPECT_DOUBLE_EQ(late.busy(), 38 * 5000.0);
}

// The effect on rounds.

Config placing() { return test::managing_all(Mode::kPlace); }

// 300 samples/s on one GPU; 1.6 and 2.2 times that on two and four: more GPUs waste GPU-seconds.
Models wasteful() {
  const std::map<std::string, double> speeds = {{"a", 1.0}};
  const auto observation = [](int gpus, double throughput) {
    return ThroughputObservation{{"lab", "net"}, "a", gpus, throughput, 20};
  };
  return Models(speeds, std::make_shared<const ThroughputModel>(
                            TypeSpeeds(speeds),
                            std::vector<ThroughputObservation>{
                                observation(1, 300), observation(2, 480), observation(4, 660)}));
}

Job& elastic(Snapshot& snapshot) {
  Job& job = add_pending(snapshot, 1);
  job.account = "lab";
  job.hints.emplace();
  job.hints->job_type = "net";
  job.hints->work = Work{WorkUnit::kSamples, 300'000, 0};  // 1000 s
  job.hints->sizes = GpuSizes({{1, 4}});
  return job;
}

TypeLoad seen(double load, int gpus) {
  TypeLoad one{"a", kNow};
  one.seconds = 4000;
  one.jobs = one.gpus = one.told_gpus = load * gpus * 4;
  one.told_gpu_seconds = one.told_gpus * 1000;
  return one;
}

int size_started(const Snapshot& snapshot, const Config& config) {
  const Plan plan = round(snapshot, wasteful(), config, kNow);
  return plan.starts.empty() ? -1 : std::max(plan.starts.front().gpus, 1);
}

TEST(SizesUnderLoad, AJobGrowsWhileLittleArrives) {
  Snapshot snapshot = make_cluster({{"a", 4}, {"a", 4}});
  elastic(snapshot);
  EXPECT_EQ(size_started(snapshot, placing()), 4) << "nothing is known to arrive";
  snapshot.memory.loads = {seen(0.1, 8)};
  EXPECT_EQ(size_started(snapshot, placing()), 4);
}

TEST(SizesUnderLoad, AJobWastesNothingWhenMoreArrivesThanCanBeDone) {
  Snapshot snapshot = make_cluster({{"a", 4}, {"a", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 4)}, kNow + 100'000).start = kNow - 50'000;
  elastic(snapshot);
  snapshot.memory.loads = {seen(1.2, 8)};
  EXPECT_EQ(size_started(snapshot, placing()), 1) << "though nobody else waits";
  Config off = placing();
  off.test_off.insert(Mechanism::kLoad);
  EXPECT_EQ(size_started(snapshot, off), 4);
}

TEST(SizesUnderLoad, NoUnmeasuredSizeIsTriedUnderLoadAndNoneMuchLarger) {
  const std::map<std::string, double> speeds = {{"a", 1.0}};
  const Models models(speeds, std::make_shared<const ThroughputModel>(
                                  TypeSpeeds(speeds), std::vector<ThroughputObservation>{
                                                          {{"lab", "net"}, "a", 1, 300, 20}}));
  Snapshot snapshot = make_cluster({{"a", 4}, {"a", 4}});
  elastic(snapshot);
  const auto size = [&] { return round(snapshot, models, placing(), kNow).starts.at(0).gpus; };
  EXPECT_EQ(size(), 2) << "twice what was measured";
  snapshot.memory.loads = {seen(0.9, 8)};
  EXPECT_EQ(size(), 0) << "as it asks";
}

TEST(SizesUnderLoad, RoundsCountWhatArrivesOnce) {
  Snapshot snapshot = make_cluster({{"a", 4}, {"a", 4}});
  elastic(snapshot);
  const Plan plan = round(snapshot, wasteful(), placing(), kNow);
  ASSERT_EQ(plan.memory.loads.size(), 1U);
  EXPECT_DOUBLE_EQ(plan.memory.loads[0].jobs, 1);
  EXPECT_NEAR(plan.memory.loads[0].told_gpu_seconds, 1000, 20);
  snapshot.memory = plan.memory;
  const Plan next = round(snapshot, wasteful(), placing(), kNow + 1);
  EXPECT_LT(next.memory.loads.at(0).jobs, 1);
  EXPECT_GT(next.memory.loads.at(0).jobs, 0.9);
}

TEST(SizesUnderLoad, AJobThatIsToldLaterCountsThen) {
  Snapshot snapshot = make_cluster({{"a", 4}, {"a", 4}});
  elastic(snapshot);
  const Plan blind = round(snapshot, Models({{"a", 1.0}}), placing(), kNow);
  ASSERT_EQ(blind.memory.loads.size(), 1U);
  EXPECT_DOUBLE_EQ(blind.memory.loads[0].told_gpus, 0);
  snapshot.memory = blind.memory;
  const Plan told = round(snapshot, wasteful(), placing(), kNow);
  EXPECT_DOUBLE_EQ(told.memory.loads.at(0).jobs, 1);
  EXPECT_DOUBLE_EQ(told.memory.loads.at(0).told_gpus, 1);
}

TEST(SizesUnderLoad, ExplainNamesLoadAndPrice) {
  Snapshot snapshot = make_cluster({{"a", 4}, {"a", 4}});
  elastic(snapshot);
  snapshot.memory.loads = {seen(1.2, 8)};
  const Plan plan = round(snapshot, wasteful(), placing(), kNow);
  std::map<std::string, std::string> facts(plan.explanations.at(0).facts.begin(),
                                           plan.explanations.at(0).facts.end());
  EXPECT_EQ(facts["load"], "1.20");
  EXPECT_THAT(facts["jobs_delayed"], Not(testing::IsEmpty()));
}

TEST(LoadInMemory, IsWrittenAndReadBack) {
  Snapshot snapshot = make_cluster({{"a", 4}});
  elastic(snapshot);
  snapshot.memory.loads = {seen(0.9, 4)};
  snapshot.memory.service = {{.job = snapshot.jobs[0].key, .counted = true}};
  const auto back = snapshot_from_json(to_json(snapshot));
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(back->memory, snapshot.memory);
}

TEST(LoadInMemory, AClockThatWasAheadIsSetBack) {
  Memory memory;
  memory.loads = {{"a", kNow + 50}};
  EXPECT_EQ(set_back(memory, kNow), 1);
  EXPECT_EQ(memory.loads[0].updated, kNow);
}

}  // namespace
}  // namespace rubato
