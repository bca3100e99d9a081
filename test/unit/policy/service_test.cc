// SPDX-License-Identifier: GPL-2.0-or-later
// Attained service, levels and the order of jobs.
#include "lib/policy/algorithms/service.h"

#include <gtest/gtest.h>

#include <limits>

#include "lib/json/json.h"
#include "lib/policy/prioritise.h"
#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::add_pending;
using test::add_running;
using test::kNow;
using test::make_cluster;
using test::share_of;

Models speeds() { return Models({{"fast", 4.0}, {"slow", 1.0}}); }

Service find(const std::vector<Service>& all, const Job& job) {
  for (const Service& service : all) {
    if (service.job == job.key) return service;
  }
  ADD_FAILURE() << "no service of job " << job.key.id;
  return {};
}

TEST(Service, GpuSecondsAreWeightedWithTheSpeedOfTheirType) {
  Snapshot snapshot = make_cluster({{"fast", 4}, {"slow", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 2)}, kNow + 100);
  add_running(snapshot, {share_of(snapshot, 1, 4)}, kNow + 100);
  for (Job& job : snapshot.jobs) job.request.gpus = 2;
  const auto all = update_service(snapshot, speeds(), {}, kNow);
  EXPECT_DOUBLE_EQ(find(all, snapshot.jobs[0]).attained, 3600 * 2);
  EXPECT_DOUBLE_EQ(find(all, snapshot.jobs[1]).attained, 3600 * 4 / 4.0);
  EXPECT_EQ(find(all, snapshot.jobs[0]).executed, 3600);
}

TEST(Service, IsTheSameInOneStepAsInMany) {
  Snapshot snapshot = make_cluster({{"fast", 4}});
  Job& job = add_running(snapshot, {share_of(snapshot, 0, 2)}, kNow + 100);
  job.request.gpus = 2;
  const auto once = update_service(snapshot, speeds(), {}, kNow);
  for (Seconds t = kNow - 3500; t <= kNow; t += 100) {
    snapshot.memory.service = update_service(snapshot, speeds(), {}, t);
  }
  EXPECT_EQ(snapshot.memory.service, once);
}

TEST(Service, AJobOutOfSightIsRememberedForAWhile) {
  Snapshot snapshot = make_cluster({{"fast", 4}});
  snapshot.memory.service = {{.job = {7, kNow - 500}, .attained = 700, .updated = kNow - 200},
                             {.job = {8, kNow - 500}, .attained = 0, .updated = kNow - 200},
                             {.job = {9, kNow - 5000}, .attained = 700, .updated = kNow - 2000}};
  const auto all = update_service(snapshot, speeds(), {}, kNow);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].job.id, 7U);
}

TEST(Service, UnmanagedJobsAndJobsWithoutGpusHaveNone) {
  Snapshot snapshot = make_cluster({{"fast", 4}});
  add_pending(snapshot, 1).managed = false;
  add_pending(snapshot, 0);
  EXPECT_TRUE(update_service(snapshot, speeds(), {}, kNow).empty());
}

TEST(Service, AJobWithABeginTimeWaitsFromThenOnAndLeavesNoTimeInTheFuture) {
  Snapshot snapshot = make_cluster({{"fast", 4}});
  Job& job = add_pending(snapshot, 2);
  job.eligible = kNow + 100;
  const JobKey key = job.key;
  const auto waiting_since = [&](Seconds now) {
    snapshot.memory.service = update_service(snapshot, speeds(), {}, now);
    for (const Service& one : snapshot.memory.service) {
      if (one.job == key) return one.waiting_since;
    }
    return Seconds{-1};
  };
  EXPECT_EQ(waiting_since(kNow), kNow);
  EXPECT_EQ(waiting_since(kNow + 99), kNow + 99);
  EXPECT_EQ(waiting_since(kNow + 150), kNow + 100);
  EXPECT_EQ(waiting_since(kNow + 900), kNow + 100);
}

TEST(Service, GoesThroughTheStateFile) {
  Snapshot snapshot = make_cluster({{"fast", 4}});
  Job& job = add_running(snapshot, {share_of(snapshot, 0, 2)}, kNow + 100);
  job.request.gpus = 2;
  Config config;
  config.mode = Mode::kPlace;
  const Plan plan = round(snapshot, speeds(), config, kNow);
  ASSERT_EQ(plan.memory.service.size(), 1U);
  const auto back = memory_from_json(to_json(plan.memory, snapshot), snapshot);
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(back->service, plan.memory.service);
}

std::vector<JobId> ids(const std::vector<const Job*>& order) {
  std::vector<JobId> result;
  for (const Job* job : order) result.push_back(job->key.id);
  return result;
}

std::vector<Service> level(JobId id, int level) {
  return {{.job = {id, kNow - 60}, .level = level}};
}

TEST(Prioritise, ALowerLevelGoesFirstInsideABand) {
  Snapshot snapshot = make_cluster({{"fast", 4}});
  for (int i = 0; i < 4; ++i) add_pending(snapshot, 1).priority = 1000;
  EXPECT_EQ(ids(prioritise(snapshot, {}, {})), (std::vector<JobId>{1, 2, 3, 4}));
  EXPECT_EQ(ids(prioritise(snapshot, {}, level(2, 2))), (std::vector<JobId>{1, 3, 4, 2}));
  Config off;
  off.test_off.insert(Mechanism::kLevels);
  EXPECT_EQ(ids(prioritise(snapshot, off, level(2, 2))), (std::vector<JobId>{1, 2, 3, 4}));
}

TEST(Prioritise, PriorityBandSaysHowFarTheLevelReaches) {
  Snapshot snapshot = make_cluster({{"fast", 4}});
  for (const std::uint32_t priority : {1000U, 990U, 500U, 10U}) {
    add_pending(snapshot, 1).priority = priority;
  }
  const std::vector<Service> first_is_last = level(1, 2);
  Config config;
  EXPECT_EQ(ids(prioritise(snapshot, config, first_is_last)), (std::vector<JobId>{2, 1, 3, 4}))
      << "auto: bands of 198, a fifth of the span";
  config.priority_band = 0;
  EXPECT_EQ(ids(prioritise(snapshot, config, first_is_last)), (std::vector<JobId>{1, 2, 3, 4}));
  config.priority_band = 300;
  EXPECT_EQ(ids(prioritise(snapshot, config, first_is_last)), (std::vector<JobId>{2, 1, 3, 4}));
  config.priority_band = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ids(prioritise(snapshot, config, first_is_last)), (std::vector<JobId>{2, 3, 4, 1}));
}

TEST(Prioritise, PrioritiesThatCountSubmissionsAreOneBand) {
  Snapshot snapshot = make_cluster({{"fast", 4}});
  for (std::uint32_t i = 0; i < 6; ++i) add_pending(snapshot, 1).priority = 4294901760U - i;
  EXPECT_EQ(ids(prioritise(snapshot, {}, level(1, 2))), (std::vector<JobId>{2, 3, 4, 5, 6, 1}));
  snapshot.jobs[0].priority = 4294901760U - 7;  // held and released
  EXPECT_EQ(ids(prioritise(snapshot, {}, level(2, 2))), (std::vector<JobId>{1, 3, 4, 5, 6, 2}));
  snapshot.jobs[0].priority = 4294901760U;
  snapshot.jobs[5].priority -= 100;  // more than submissions explain: bands of 21
  EXPECT_EQ(ids(prioritise(snapshot, {}, level(1, 2))), (std::vector<JobId>{2, 3, 4, 5, 1, 6}));
  snapshot.jobs[5].priority_set = true;
  EXPECT_EQ(ids(prioritise(snapshot, {}, level(1, 2))), (std::vector<JobId>{2, 3, 4, 5, 1, 6}));
}

TEST(Prioritise, JobsThatCannotCompeteDoNotWidenTheBands) {
  Snapshot snapshot = make_cluster({{"fast", 4}});
  for (const std::uint32_t priority : {95000U, 94000U, 90000U, 1U}) {
    add_pending(snapshot, 1).priority = priority;
  }
  Job& other = snapshot.jobs[3];
  const std::vector<Service> second_is_last = level(2, 2);
  const auto order = [&] { return ids(prioritise(snapshot, {}, second_is_last)); };
  const std::vector<JobId> by_priority = {1, 2, 3, 4};
  EXPECT_EQ(order(), (std::vector<JobId>{1, 3, 2, 4})) << "bands of 19000 hold 2 and 3";
  other.niced = true;
  EXPECT_EQ(order(), by_priority) << "bands of 1000";
  other.niced = false;
  other.block = Block::kOther;
  EXPECT_EQ(order(), by_priority);
  other.block = Block::kNone;
  other.request.gpus = 0;
  EXPECT_EQ(order(), by_priority);
  other.request.gpus = 1;
  other.managed = false;
  EXPECT_EQ(order(), by_priority);
}

TEST(Prioritise, AJobWhosePriorityAPersonSetKeepsItsPlace) {
  Snapshot snapshot = make_cluster({{"fast", 4}});
  for (int i = 0; i < 4; ++i) add_pending(snapshot, 1).priority = 1000;
  std::vector<Service> service;
  for (const JobId id : {1U, 2U, 3U}) service.push_back(level(id, 2)[0]);
  EXPECT_EQ(ids(prioritise(snapshot, {}, service)), (std::vector<JobId>{4, 1, 2, 3}));
  for (Job& job : snapshot.jobs) job.priority_set = job.key.id == 1 || job.key.id == 3;
  EXPECT_EQ(ids(prioritise(snapshot, {}, service)), (std::vector<JobId>{1, 4, 3, 2}));
}

TEST(Prioritise, UnmanagedJobsAndTiersKeepTheirPlaces) {
  Snapshot snapshot = make_cluster({{"fast", 4}});
  for (int i = 0; i < 5; ++i) add_pending(snapshot, 1).priority = 1000;
  for (Job& job : snapshot.jobs) {
    if (job.key.id == 2) job.managed = false;
    if (job.key.id == 1) job.tier = 2;
  }
  std::vector<Service> service = level(1, 2);
  service.push_back(level(3, 1)[0]);
  EXPECT_EQ(ids(prioritise(snapshot, {}, service)), (std::vector<JobId>{1, 2, 4, 5, 3}));
}

}  // namespace
}  // namespace rubato
