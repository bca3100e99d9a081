// SPDX-License-Identifier: GPL-2.0-or-later
// What a job would get if it were submitted now.
#include "lib/replay/whatif.h"

#include <gtest/gtest.h>

#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::add_pending;
using test::add_running;
using test::kNow;
using test::make_cluster;
using test::share_of;

Config place() { return test::managing_all(Mode::kPlace); }

// A job that is not in the snapshot.
Job new_job(const Snapshot& snapshot, int gpus, Seconds limit = 3600) {
  Snapshot with = snapshot;
  Job job = add_pending(with, gpus);
  job.key.submit = job.eligible = kNow;
  job.later_set = 0;
  job.time_limit = limit;
  return job;
}

TEST(WhatIf, StartsNowWhereGpusAreFree) {
  const Snapshot snapshot = make_cluster({{"a100", 4}});
  const WhatIfOutcome out = WhatIf(snapshot, {}, place()).of(new_job(snapshot, 2));
  EXPECT_EQ(out.start, kNow);
  EXPECT_EQ(out.latest, kNow);
  EXPECT_FALSE(out.told);
  EXPECT_EQ(out.end, kNow + 3600) << "at its limit: nothing is known of it";
  EXPECT_EQ(out.gpu_type, "a100");
  EXPECT_EQ(out.nodes, std::vector<std::string>{"n1"});
  EXPECT_DOUBLE_EQ(out.gpu_hours, 2);
  EXPECT_EQ(out.delayed, 0);
}

TEST(WhatIf, WaitsForRunningJobsAtTheLatestUntilTheirLimits) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 4)}, kNow + 9000);
  const WhatIfOutcome out = WhatIf(snapshot, {}, place()).of(new_job(snapshot, 2));
  EXPECT_EQ(out.latest, kNow + 9000);
  EXPECT_GT(out.start, kNow);
  EXPECT_LT(out.start, out.latest) << "a job is expected to run as long again as it did";
}

TEST(WhatIf, NoStartBehindAJobWithoutATimeLimit) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 4)}, kForever);
  EXPECT_EQ(WhatIf(snapshot, {}, place()).of(new_job(snapshot, 2)).latest, 0);
}

TEST(WhatIf, CountsTheJobsThatStartLater) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  add_pending(snapshot, 4).priority = 100;
  add_pending(snapshot, 4).priority = 90;
  for (Job& job : snapshot.jobs) job.later_set = 0;
  const WhatIf queue(snapshot, {}, place());
  EXPECT_EQ(queue.waiting(), 2);
  Job last = new_job(snapshot, 4);
  last.priority = 10;
  const WhatIfOutcome behind = queue.of(last);
  EXPECT_EQ(behind.delayed, 0);
  EXPECT_EQ(behind.start, kNow + 2 * 3600);
  Job first = last;
  first.priority = 1'000'000;
  Config strict = place();
  strict.priority_band = 0;
  const WhatIfOutcome before = WhatIf(snapshot, {}, strict).of(first);
  EXPECT_EQ(before.start, kNow);
  EXPECT_EQ(before.delayed, 2);
  EXPECT_EQ(before.delay, 2 * 3600);
}

TEST(WhatIf, LeavesBlockedJobsOutAndSimulatesEachTaskOfAnArray) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  add_pending(snapshot, 4).block = Block::kLimit;
  Job& array = add_pending(snapshot, 4);
  array.array_id = array.key.id;
  array.tasks = 3;
  for (Job& job : snapshot.jobs) job.later_set = 0;
  const WhatIf queue(snapshot, {}, place());
  EXPECT_EQ(queue.blocked(), 1);
  EXPECT_EQ(queue.waiting(), 3);
  EXPECT_EQ(queue.of(new_job(snapshot, 4)).start, kNow + 3 * 3600);
}

// As where PrivateData hides the jobs of others.
TEST(WhatIf, WhatNodesHaveInUseStaysInUse) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  snapshot.nodes[0].gpus[0].free = 1;
  EXPECT_EQ(WhatIf(snapshot, {}, place()).of(new_job(snapshot, 1)).start, kNow);
  EXPECT_EQ(WhatIf(snapshot, {}, place()).of(new_job(snapshot, 2)).start, 0);
}

TEST(WhatIf, AJobWithoutALimitLeavesOthersWithoutAStart) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  add_pending(snapshot, 4).priority = 1;
  for (Job& job : snapshot.jobs) job.later_set = 0;
  Job job = new_job(snapshot, 4, kForever);
  job.priority = 1'000'000;
  Config strict = place();
  strict.priority_band = 0;
  const WhatIfOutcome out = WhatIf(snapshot, {}, strict).of(job);
  EXPECT_EQ(out.start, kNow);
  EXPECT_EQ(out.end, 0);
  EXPECT_EQ(out.gpu_hours, 0);
  EXPECT_EQ(out.delayed, 0);
  EXPECT_EQ(out.displaced, 1);
}

TEST(WhatIf, SimulatesALongQueueInPart) {
  Snapshot snapshot = make_cluster({{"a100", 1}});
  for (int i = 0; i < 600; ++i) add_pending(snapshot, 1);  // fewer rounds than the bound
  for (Job& job : snapshot.jobs) job.later_set = 0;
  Job last = new_job(snapshot, 1);
  last.priority = 0;
  const WhatIfOutcome out = WhatIf(snapshot, {}, place()).of(last);
  EXPECT_EQ(out.start, 0) << "600 jobs in up to 600 rounds are more than kMaxWhatIfDecisions";
  EXPECT_EQ(out.displaced, 0) << "jobs that the simulation does not reach do not count";
}

TEST(WhatIf, AJobThatTellsItsWorkEndsWithIt) {
  const Snapshot snapshot = make_cluster({{"a100", 4}});
  const std::map<std::string, double> speeds{{"a100", 1.0}};
  const std::vector<ThroughputObservation> seen{{{"lab", "bert"}, "a100", 2, 50, 20}};
  const Models models(speeds, std::make_shared<const ThroughputModel>(TypeSpeeds(speeds), seen));
  Job job = new_job(snapshot, 2);
  job.account = "lab";
  job.hints = ResolvedHints{};
  job.hints->job_type = "bert";
  job.hints->work = Work{WorkUnit::kSamples, 60'000, 0};
  const WhatIfOutcome out = WhatIf(snapshot, models, place()).of(job);
  EXPECT_TRUE(out.told);
  EXPECT_NEAR(static_cast<double>(out.end - out.start), 1200, 60);
}

}  // namespace
}  // namespace rubato
