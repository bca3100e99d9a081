// SPDX-License-Identifier: GPL-2.0-or-later
// Elastic scaling: the dynamic program against exhaustive search, the policies on small cases, and
// the recorded figures of the workload.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "lib/sim/engine/engine.h"
#include "lib/sim/engine/noise.h"
#include "lib/sim/engine/step_truth.h"
#include "lib/sim/engine/suite.h"
#include "lib/sim/policies/elastic_dp.h"
#include "test/support/seeds.h"

namespace rubato::sim {
namespace {

using Jobs = std::vector<std::vector<SizeValue>>;

/// The maximum sum over all ways to give each job one of its sizes; below 0: infeasible.
double exhaustive(const Jobs& jobs, std::size_t from, int gpus) {
  if (from == jobs.size()) return 0;
  double best = -1;
  for (const SizeValue& size : jobs[from]) {
    if (size.gpus > gpus) continue;
    const double rest = exhaustive(jobs, from + 1, gpus - size.gpus);
    if (rest >= 0) best = std::max(best, rest + size.value);
  }
  return best;
}

Jobs drawn_jobs(std::uint64_t seed) {
  Jobs jobs(1 + static_cast<std::size_t>(5 * uniform_noise(seed, 1, 0)));
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    const auto least = 1 + static_cast<int>(3 * uniform_noise(seed, 2, job));
    const auto most = least + static_cast<int>(4 * uniform_noise(seed, 3, job));
    for (int gpus = least; gpus <= most; ++gpus) {
      // Values are not monotone, with gaps and ties.
      const double value = std::ceil(8 * uniform_noise(seed, 10 + job, gpus)) / 4;
      if (value < 2) jobs[job].push_back({gpus, value});
    }
    if (jobs[job].empty()) jobs[job].push_back({least, 1});
  }
  return jobs;
}

TEST(ElasticProgram, IsTheBestOfAllWays) {
  std::uint64_t impossible = 0;
  const std::uint64_t seeds = test::seeds(400);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Jobs jobs = drawn_jobs(seed);
    const int gpus = 1 + static_cast<int>(14 * uniform_noise(seed, 4, 0));
    ElasticProgram linear_program(gpus);
    bool all = true;
    for (const auto& sizes : jobs) all = all && linear_program.add(sizes);
    const double best = exhaustive(jobs, 0, gpus);
    ASSERT_EQ(all, best >= 0) << "seed " << seed;
    if (!all) {
      ++impossible;
      continue;
    }
    ASSERT_NEAR(linear_program.value(), best, 1e-9) << "seed " << seed;
    const std::vector<int> sizes = linear_program.sizes();
    int used = 0;
    double sum = 0;
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      const auto at = std::find_if(jobs[job].begin(), jobs[job].end(),
                                   [&](const SizeValue& one) { return one.gpus == sizes[job]; });
      ASSERT_NE(at, jobs[job].end()) << "seed " << seed;
      used += at->gpus;
      sum += at->value;
    }
    EXPECT_LE(used, gpus);
    EXPECT_NEAR(sum, best, 1e-9) << "seed " << seed;
  }
  EXPECT_GT(impossible, seeds / 40);
  EXPECT_LT(impossible, seeds - seeds / 40);
}

TEST(ElasticProgram, OfEqualSumsTheFewestGpus) {
  ElasticProgram linear_program(8);
  const std::vector<SizeValue> flat{{1, 1}, {2, 1}, {4, 1}};
  ASSERT_TRUE(linear_program.add(flat));
  ASSERT_TRUE(linear_program.add(flat));
  EXPECT_EQ(linear_program.sizes(), (std::vector<int>{1, 1}));
}

TEST(ElasticProgram, AJobTooManyChangesNothing) {
  ElasticProgram linear_program(2);
  const std::vector<SizeValue> two{{2, 1}};
  ASSERT_TRUE(linear_program.add(two));
  EXPECT_FALSE(linear_program.add(two));
  EXPECT_EQ(linear_program.jobs(), 1U);
  EXPECT_EQ(linear_program.sizes(), (std::vector<int>{2}));
}

TEST(ElasticProgram, FourHundredGpusAndJobs) {
  ElasticProgram linear_program(400);
  std::vector<SizeValue> sizes;
  for (int gpus = 1; gpus <= 10; ++gpus) sizes.push_back({gpus, std::sqrt(gpus)});
  for (int job = 0; job < 400; ++job) ASSERT_TRUE(linear_program.add(sizes));
  EXPECT_FALSE(linear_program.add(sizes));
  EXPECT_NEAR(linear_program.value(), 400, 1e-6);
}

SimJob trained(const std::string& key, double arrival, double work) {
  SimJob job;
  job.key = key;
  job.model = "trained";
  job.arrival = arrival;
  job.work = work;
  job.gpus = 1;
  job.max_gpus = 4;
  job.batch = job.min_batch = 8;
  job.max_batch = 32;
  job.step = StepCosts{};
  job.step->fixed_s = 1;
  job.step->sample_s = 0.125;
  job.step->gradient_mb = 100;
  job.step->link_mb_s = 100;
  job.step->max_local = 16;
  return job;
}

Suite suite_of(const char* shape, JobList jobs) {
  Suite suite;
  suite.name = "test";
  suite.cluster = parse_cluster_shape(shape).value();
  suite.jobs = std::move(jobs);
  suite.truth = std::make_shared<StepTruth>();
  return suite;
}

RunMetrics play(const Suite& suite, const std::string& policy) {
  RunControl control;
  control.intervals = true;
  auto record = run_suite(suite, policy, Information::kLearned, control);
  EXPECT_TRUE(record) << (record ? "" : record.error().text);
  return record.value_or(RunMetrics{});
}

TEST(StepTruth, IsTheSumOfItsParts) {
  SimJob job = trained("one", 0, 1);
  const StepTruth truth;
  // 8 samples: 1 + 8 / 8 s on one GPU; on two 1 + 4 / 8 + 2 * 1 / 2 * 1 s.
  EXPECT_DOUBLE_EQ(truth.throughput(job, {0, {1}, 0, ""}, 0), 8 / 2.0);
  EXPECT_DOUBLE_EQ(truth.throughput(job, {0, {2}, 0, ""}, 0), 8 / 2.5);
  EXPECT_DOUBLE_EQ(truth.throughput(job, {0, {1}, 16, ""}, 0), 16 / 3.0);
  EXPECT_DOUBLE_EQ(truth.throughput(job, {0, {1}, 17, ""}, 0), 17 / (2 * (1 + 9 / 8.0)))
      << "more than a GPU holds: two passes";
  EXPECT_EQ(truth.throughput(job, {0, {4, 4, 4}, 0, ""}, 0), 0) << "a GPU without a sample";
  job.servers = 2;
  job.step->exchange_s = 1;
  job.step->worker_s = 0.25;
  job.step->server_s = 0.5;
  // Two workers; two servers on GPUs, or one on cores.
  EXPECT_DOUBLE_EQ(truth.throughput(job, {0, {4}, 0, ""}, 0), 8 / (2.5 + 1 + 0.5 + 1));
  EXPECT_DOUBLE_EQ(truth.throughput(job, {0, {2}, 0, servers_plan(1)}, 0),
                   8 / (2.5 + 2 + 0.5 + 0.5));
  EXPECT_EQ(truth.throughput(job, {0, {2}, 0, ""}, 0), 0) << "no GPU is left for a worker";
  EXPECT_EQ(truth.throughput(job, {0, {2}, 0, "another"}, 0), 0);
}

TEST(Elastic, TakesTheFastestBatchAndTheSizeThatPays) {
  const Suite suite = suite_of("gpu:1x4", {trained("one", 0, 16000)});
  // Four GPUs, 32 samples: 1 + 1 + 1.5 s. Four GPUs, the user's 8 samples: 1 + 1/4 + 1.5 s, slower
  // than one GPU with 8 samples in 2 s.
  EXPECT_NEAR(play(suite, "elastic-var").jobs[0].finish, 16000 / (32 / 3.5), 1e-6);
  const RunMetrics fixed = play(suite, "elastic-fixed");
  EXPECT_NEAR(fixed.jobs[0].finish, 16000 / (8 / 2.0), 1e-6);
  for (const AllocationInterval& segment : fixed.intervals) EXPECT_EQ(segment.gpus, 1);
}

TEST(Elastic, NobodyIsDroppedAndTheFirstWhoDoesNotFitHoldsTheOthersBack) {
  JobList jobs;
  for (int i = 0; i < 3; ++i) jobs.push_back(trained("early" + std::to_string(i), 0, 16000));
  jobs.push_back(trained("large", 1, 1600));
  jobs.back().gpus = jobs.back().min_gpus = 2;
  jobs.push_back(trained("small", 2, 1600));
  const Suite suite = suite_of("gpu:1x4", jobs);
  const RunMetrics record = play(suite, "elastic-fixed");
  EXPECT_DOUBLE_EQ(record.jobs[0].first_start, 0);
  EXPECT_DOUBLE_EQ(record.jobs[0].finish, 4000);
  EXPECT_GE(record.jobs[3].first_start, 4000) << "two GPUs beside three running jobs are too many";
  EXPECT_GE(record.jobs[4].first_start, record.jobs[3].first_start);
  EXPECT_TRUE(record.jobs[4].finished());
}

TEST(Equal, SharesAsFarAsAJobCanUseIt) {
  JobList jobs{trained("one", 0, 1e5), trained("two", 0, 1e5), trained("one-gpu", 0, 1e5)};
  jobs[2].max_gpus = 1;
  const RunMetrics record = play(suite_of("gpu:2x4", jobs), "equal");
  std::vector<int> gpus(3, 0);
  for (const AllocationInterval& segment : record.intervals) {
    if (segment.from == 0) gpus[segment.job] += segment.gpus;
  }
  EXPECT_EQ(gpus, (std::vector<int>{4, 3, 1}));
}

TEST(AiTurbo, PutsServersOnCores) {
  JobList jobs{trained("one", 0, 1e4)};
  jobs[0].servers = 2;
  jobs[0].gpus = jobs[0].min_gpus = jobs[0].max_gpus = 3;
  jobs[0].step->exchange_s = 0.5;
  const Suite suite = suite_of("gpu:1x4/64", jobs);
  const RunMetrics turbo = play(suite, "aiturbo");
  const RunMetrics fifo = play(suite, "fifo");
  ASSERT_TRUE(turbo.jobs[0].finished());
  EXPECT_EQ(turbo.intervals.front().gpus, 1);
  EXPECT_EQ(fifo.intervals.front().gpus, 3);
}

TEST(AiTurbo, WhoHadLeastComesFirstWhereNothingIsKnown) {
  JobList jobs;
  for (int i = 0; i < 2; ++i) {
    jobs.push_back(trained("j" + std::to_string(i), 100.0 * i, 4000));
    jobs.back().max_gpus = 1;
    jobs.back().predictable = false;
  }
  const RunMetrics record = play(suite_of("gpu:1x1", jobs), "aiturbo");
  EXPECT_DOUBLE_EQ(record.jobs[1].first_start, 100) << "nothing served goes before 100 s served";
}

TEST(AiTurbo, LetsAJobBeginToWork) {
  JobList jobs;
  for (int i = 0; i < 6; ++i) {
    jobs.push_back(trained("j" + std::to_string(i), 0, 4000));
    jobs.back().restart_s = jobs.back().start_s = 300;  // longer than the time between rounds
  }
  const RunMetrics record = play(suite_of("gpu:1x2", jobs), "aiturbo");
  for (const JobResult& job : record.jobs) {
    EXPECT_TRUE(job.finished());
    EXPECT_LT(job.finish, 100'000);
  }
}

TEST(Elastic, SaysWhatIsMissing) {
  const Suite types = suite_of("a:1x4,b:1x4", {trained("one", 0, 100)});
  for (const char* policy : {"elastic-fixed", "elastic-var", "aiturbo"}) {
    const auto record = run_suite(types, policy, Information::kLearned, {});
    ASSERT_FALSE(record);
    EXPECT_TRUE(record.error().text.starts_with(
        "needs a cluster with GPUs of one type, and this one has 2; it runs in the suites"))
        << record.error().text;
  }
  Suite fixed = suite_of("a:1x4", {trained("one", 0, 100)});
  fixed.jobs[0].max_batch = 8;
  const auto record = run_suite(fixed, "elastic-var", Information::kLearned, {});
  ASSERT_FALSE(record);
  EXPECT_TRUE(record.error().text.starts_with("needs jobs with a range of batches"))
      << record.error().text;
}

/// The table in the project's notes; each cell is within the suite's tolerance.
TEST(ElasticSuite, GivesTheFiguresItGaveWhenItWasMade) {
  int figures = 0;
  for (const char* throughput : {"10", "20", "30", "40"}) {
    for (const char* batch : {"", "/batch=max"}) {
      const auto suite = make_suite(std::string("elastic@") + throughput + batch, "", 0);
      ASSERT_TRUE(suite) << suite.error().text;
      for (const char* policy : {"elastic-var", "elastic-fixed"}) {
        const auto mean = mean_metrics(*suite, "", policy, Information::kLearned, {});
        ASSERT_TRUE(mean) << mean.error().text;
        for (const PublishedFigure& one : suite->published) {
          if (one.policy != policy) continue;
          const double found = one.metric == "finished" ? mean->finished : mean->avg_jct_s;
          EXPECT_NEAR(found / one.value, 1, one.within) << suite->name << " " << policy;
          ++figures;
        }
      }
    }
  }
  EXPECT_EQ(figures, 4 * 2 * 4);
}

}  // namespace
}  // namespace rubato::sim
