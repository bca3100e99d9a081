// SPDX-License-Identifier: GPL-2.0-or-later
// Time limits of jobs, given or derived, and their use in a policy.
#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "lib/sim/engine/suite.h"
#include "lib/sim/engine/truth.h"
#include "test/sim/played.h"

namespace rubato::sim {
namespace {

SimJob job_of(const char* key, double arrival, int gpus, double work) {
  SimJob job;
  job.key = job.model = key;
  job.arrival = arrival;
  job.gpus = job.min_gpus = job.max_gpus = gpus;
  job.work = work;
  return job;
}

TEST(AskedLimit, IsTwiceTheTrueTimeWhereItIsSlowest) {
  const TwoSpeeds truth;
  const ClusterShape cluster = parse_cluster_shape("slow:1x2,fast:1x4").value();
  SimJob job = job_of("one", 0, 2, 1000);
  job.start_s = 41;
  EXPECT_EQ(asked_limit(truth, cluster, job), 1140)
      << "twice 500 s and the start, in whole minutes";
  job.gpus = job.min_gpus = job.max_gpus = 4;
  EXPECT_EQ(asked_limit(truth, cluster, job), 240) << "the slow type has too few GPUs";
  job.gpus = job.max_gpus = 2;
  job.min_gpus = 1;
  EXPECT_EQ(asked_limit(truth, cluster, job), 2100) << "of the sizes that it takes the slowest";
  job.sizes = {2, 4};
  EXPECT_EQ(asked_limit(truth, cluster, job), 1140);
  job.types = {"fast"};
  EXPECT_EQ(asked_limit(truth, cluster, job), 360);
  job.time_limit = 7;
  EXPECT_EQ(asked_limit(truth, cluster, job), 7) << "what is said counts";
  job.time_limit = std::numeric_limits<double>::infinity();
  job.sizes = {5};
  job.gpus = 5;
  EXPECT_EQ(asked_limit(truth, cluster, job), std::numeric_limits<double>::infinity());
}

TEST(AskedLimit, LetsRubatoFillTheGapBeforeAGang) {
  Suite suite;
  suite.name = "test";
  suite.cluster = parse_cluster_shape("a:1x4").value();
  suite.truth = std::make_shared<TwoSpeeds>();
  suite.jobs = {job_of("runs", 0, 2, 2000), job_of("gang", 1, 4, 400), job_of("short", 2, 1, 300),
                job_of("long", 3, 1, 3000)};
  const auto record = run_suite(suite, "rubato-place", Information::kLearned, RunControl());
  ASSERT_TRUE(record) << record.error().text;
  EXPECT_LT(record->jobs[2].finish, 400) << "ends before the gang can start";
  EXPECT_EQ(record->jobs[1].first_start, 1000);
  EXPECT_GE(record->jobs[3].first_start, 1100) << "would have kept the gang waiting";
  EXPECT_LT(record->jobs[3].finish, 5000) << "nobody is ended at a limit that nobody said";
}

}  // namespace
}  // namespace rubato::sim
