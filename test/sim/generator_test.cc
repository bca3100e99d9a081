// SPDX-License-Identifier: GPL-2.0-or-later
// Generated workloads: their distributions match the published ones, equal seeds give equal
// workloads, and a file reproduces them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "lib/base/statistics.h"
#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/suite.h"
#include "lib/sim/formats/format_native.h"
#include "lib/sim/formats/write_native.h"
#include "lib/sim/suites/arrivals.h"
#include "lib/sim/suites/draw.h"
#include "lib/sim/suites/suite_spec.h"

namespace rubato::sim {
namespace {

Suite made(const std::string& name, std::uint64_t seed = 0) {
  auto suite = make_suite(name, "", seed);
  EXPECT_TRUE(suite) << (suite ? "" : suite.error().text);
  return suite ? std::move(*suite) : Suite{};
}

std::string error_of(const std::string& name) {
  const auto suite = make_suite(name, "", 0);
  return suite ? "" : suite.error().text;
}

double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const double mx = mean(x);
  const double my = mean(y);
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mx) * (y[i] - my);
    xx += (x[i] - mx) * (x[i] - mx);
    yy += (y[i] - my) * (y[i] - my);
  }
  return xy / std::sqrt(xx * yy);
}

TEST(Draw, QuantilesAreMet) {
  const std::vector<Quantile> points{{0, 1}, {0.5, 100}, {1, 1000}};
  EXPECT_DOUBLE_EQ(value_at(points, 0), 1);
  EXPECT_DOUBLE_EQ(value_at(points, 0.25), 10);
  EXPECT_DOUBLE_EQ(value_at(points, 0.5), 100);
  EXPECT_DOUBLE_EQ(value_at(points, 1), 1000);
  const std::vector<double> weights{0, 1, 3, 0};
  EXPECT_EQ(part_of(weights, 0), 1U);
  EXPECT_EQ(part_of(weights, 0.3), 2U);
  EXPECT_EQ(part_of(weights, 1), 2U);
  EXPECT_NEAR(normal_point(normal_share(-1.25)), -1.25, 1e-9);
  EXPECT_NEAR(normal_share(1.959964), 0.975, 1e-6);
}

TEST(Arrivals, HaveTheMeanGapAndTheScatterOfTheirKind) {
  constexpr int kCount = 20000;
  for (const auto& [kind, scatter] :
       {std::pair{ArrivalKind::kEven, 0.0}, std::pair{ArrivalKind::kPoisson, 1.0},
        // groups of a geometric number with mean 4: 2 * 4 - 1
        std::pair{ArrivalKind::kBursty, 7.0}}) {
    ArrivalTimes times(kind, 10, 3);
    // Numbers of arrivals in windows of 400 s: variance over mean is the index of dispersion.
    std::map<int, double> windows;
    double last = 0;
    double now = 0;
    for (int i = 0; i < kCount; ++i) {
      now = times.next();
      ASSERT_GE(now, last);
      last = now;
      ++windows[static_cast<int>(now / 400)];
    }
    EXPECT_NEAR(now / kCount, 10, 0.5);
    std::vector<double> counts;
    for (int window = 0; window < static_cast<int>(now / 400); ++window) {
      counts.push_back(windows[window]);
    }
    double squares = 0;
    for (const double count : counts) squares += std::pow(count - mean(counts), 2);
    const double dispersion = squares / static_cast<double>(counts.size()) / mean(counts);
    EXPECT_NEAR(dispersion, scatter, 0.2 * scatter + 0.1);
  }
}

TEST(ElasticSuite, HasItsDistributions) {
  const Suite suite = made("elastic@40/hours=500");
  EXPECT_NEAR(static_cast<double>(suite.jobs.size()), 20000, 600);
  std::map<std::string, int> kinds;
  std::vector<double> minutes;
  for (const SimJob& job : suite.jobs) {
    ++kinds[job.model];
    const double most = std::min(job.max_batch, job.step->max_local);
    minutes.push_back(job.work / suite.truth->throughput(job, {0, {1}, most, ""}, 0) / 60);
    ASSERT_LT(job.arrival, 500 * 3600.0);
  }
  EXPECT_EQ(kinds.size(), 4U);
  for (const auto& [kind, count] : kinds) EXPECT_NEAR(count, suite.jobs.size() / 4.0, 300) << kind;
  EXPECT_NEAR(*std::min_element(minutes.begin(), minutes.end()), 20, 0.1);
  EXPECT_NEAR(*std::max_element(minutes.begin(), minutes.end()), 120, 0.1);
  EXPECT_NEAR(mean(minutes), 70, 1);
}

TEST(ElasticSuite, TakesItsWords) {
  EXPECT_EQ(made("elastic@20/mix=0:0:1:0").jobs.front().model, "balanced");
  EXPECT_DOUBLE_EQ(made("elastic@20/batch=max").jobs.front().batch,
                   made("elastic@20").jobs.front().max_batch);
  EXPECT_EQ(made("elastic@20/gpus=8").cluster.gpus(), 8);
  const Suite even = made("elastic@20/arrivals=even/hours=1");
  ASSERT_EQ(even.jobs.size(), 19U);
  EXPECT_DOUBLE_EQ(even.jobs[3].arrival, 4 * 180);
  EXPECT_TRUE(even.published.empty()) << "the figures are of another workload";
  EXPECT_FALSE(made("elastic@20").published.empty());
  for (const SimJob& job : made("elastic@20/batch=random").jobs) {
    EXPECT_GE(job.batch, job.min_batch);
    EXPECT_LE(job.batch, job.max_batch);
  }
}

TEST(Spec, ErrorsNameTheWordAndTheNearest) {
  EXPECT_EQ(error_of("elastic@fast"),
            "suite elastic: rate 'fast': expected a number from 0.1 to 1000");
  EXPECT_EQ(
      error_of("elastic@20/arivals=even"),
      "suite elastic: 'arivals': must be one of arrivals, batch, gpus, hours, mix; did you mean "
      "arrivals?");
  EXPECT_EQ(error_of("elastic@20/arrivals=evn"),
            "suite elastic: arrivals 'evn': expected one of poisson, even, bursty; did you mean "
            "even?");
  EXPECT_EQ(error_of("elastic@20/gpus=6"), "suite elastic: gpus '6': expected a multiple of 4");
  EXPECT_EQ(error_of("elastic@20/mix=1:2"),
            "suite elastic: mix '1:2': expected 4 weights, as "
            "1:1:1:1");
  EXPECT_EQ(error_of("elastic@20/hours"), "suite elastic: hours: expected hours=VALUE");
  EXPECT_EQ(error_of("elastic@20/hours=2/hours=3"), "suite elastic: hours appears twice");
  EXPECT_EQ(error_of("aiturbo-mix@101"),
            "suite aiturbo-mix: share '101': expected a number from 0 to 100");
}

/// 20,000 generated jobs have the published distributions.
TEST(AiTurboSuite, HasThePublishedDistributions) {
  const Suite suite = made("aiturbo-mix@85.03/jobs=20000");
  ASSERT_EQ(suite.jobs.size(), 20000U);
  std::vector<double> run;
  std::vector<double> unpredictable;
  std::vector<double> servers;
  std::map<int, double> workers;
  std::map<std::string, int> kinds;
  for (const SimJob& job : suite.jobs) {
    const int w = job.gpus - job.servers;
    run.push_back(job.work / suite.truth->throughput(
                                 job, {0, {w}, 0, "servers=" + std::to_string(job.servers)}, 0));
    unpredictable.push_back(job.predictable ? 0 : 1);
    servers.push_back(job.servers);
    ++workers[w];
    ++kinds[job.model];
    EXPECT_EQ(job.forecast_error, job.predictable ? 0.05 : 0.5);
  }
  EXPECT_EQ(kinds.size(), 27U);
  EXPECT_NEAR(mean(unpredictable), 0.1497, 0.01);
  EXPECT_NEAR(correlation(run, unpredictable), -0.30, 0.03);
  std::vector<double> sorted = run;
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [share, value] :
       {std::pair{0.25, 693.0}, std::pair{0.5, 7278.0}, std::pair{0.75, 14086.0},
        std::pair{0.9, 28373.0}, std::pair{0.99, 71235.0}}) {
    EXPECT_NEAR(percentile(sorted, share) / value, 1, 0.12) << share;
  }
  EXPECT_NEAR(mean(run) / 11083, 1, 0.1);
  EXPECT_NEAR(mean(servers), 1.95, 0.03);
  const double gpus = 1881 + 824 + 212 + 3611 + 1144;
  for (const auto& [w, jobs] : {std::pair{1, 1881}, std::pair{2, 824}, std::pair{4, 212},
                                std::pair{6, 3611}, std::pair{8, 1144}}) {
    EXPECT_NEAR(workers[w] / 20000, jobs / gpus, 0.012) << w;
  }
}

TEST(AiTurboSuite, AnotherShareChangesNothingElse) {
  const Suite none = made("aiturbo-mix@0", 5);
  const Suite all = made("aiturbo-mix@100", 5);
  const Suite half = made("aiturbo-mix@50/jobs=4000", 5);
  ASSERT_EQ(none.jobs.size(), all.jobs.size());
  for (std::size_t i = 0; i < none.jobs.size(); ++i) {
    EXPECT_FALSE(none.jobs[i].predictable);
    EXPECT_TRUE(all.jobs[i].predictable);
    SimJob same = none.jobs[i];
    same.predictable = true;
    same.forecast_error = all.jobs[i].forecast_error;
    EXPECT_EQ(same, all.jobs[i]);
  }
  const auto predictable = std::count_if(half.jobs.begin(), half.jobs.end(),
                                         [](const SimJob& job) { return job.predictable; });
  EXPECT_NEAR(static_cast<double>(predictable), 2000, 150);
}

class EachGenerated : public testing::TestWithParam<std::string> {};

TEST_P(EachGenerated, TheSameSeedGivesTheSameJobs) {
  EXPECT_EQ(made(GetParam(), 7).jobs, made(GetParam(), 7).jobs);
  EXPECT_NE(made(GetParam(), 7).jobs, made(GetParam(), 8).jobs);
}

RunMetrics play(const Suite& suite, const std::string& policy, double until) {
  RunControl control;
  control.seed = 3;
  control.intervals = true;
  control.until = until;
  const auto record = run_suite(suite, policy, Information::kLearned, control);
  EXPECT_TRUE(record) << (record ? "" : record.error().text);
  return record.value_or(RunMetrics{});
}

TEST_P(EachGenerated, AFileOfItGivesTheSame) {
  const Suite suite = made(GetParam(), 3);
  const auto text = native_text(suite);
  ASSERT_TRUE(text) << text.error().text;
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / ("rubato-generated-" + std::to_string(getpid()));
  std::ofstream(file) << *text;
  const auto read = read_native_suite(file, "", suite.cluster);
  std::filesystem::remove(file);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->jobs, suite.jobs);
  for (const char* policy : {"fifo", "backfill", "las", "tiresias", "rubato-place", "equal",
                             "elastic-fixed", "aiturbo", "optimus"}) {
    const RunMetrics a = play(suite, policy, kNever);
    const RunMetrics b = play(*read, policy, suite.horizon);
    EXPECT_EQ(a.intervals, b.intervals) << policy;
    EXPECT_EQ(a.end, b.end) << policy;
    EXPECT_GT(measure(a, {}, suite.cluster.gpus(), 0).finished, 10) << policy;
  }
}

INSTANTIATE_TEST_SUITE_P(Generated, EachGenerated,
                         testing::Values("elastic@20/hours=4", "aiturbo-mix@50/jobs=80/gpus=16",
                                         "elastic@15/arrivals=bursty/batch=random/hours=4"));

std::vector<std::string> training_shapes() {
  for (const SuiteEntry& entry : suites()) {
    if (entry.name == "training") return entry.arguments;
  }
  return {};
}

TEST(Training, ShapesAreOfTheirLoadAndFitTheirCluster) {
  ASSERT_EQ(training_shapes().size(), 8U);
  for (const std::string& shape : training_shapes()) {
    const Suite suite = made("training@" + shape);
    EXPECT_EQ(suite.jobs, made("training@" + shape).jobs) << shape;
    EXPECT_NE(suite.jobs.front().work, made("training@" + shape, 1).jobs.front().work) << shape;
    EXPECT_TRUE(suite.published.empty());
    double seconds = 0;
    for (const SimJob& job : suite.jobs) {
      EXPECT_LT(ideal_seconds(*suite.truth, suite.cluster, job), kNever) << shape << job.key;
      seconds += job.gpus * ideal_seconds(*suite.truth, suite.cluster, job);
    }
    // On its fastest type a job needs less than on the mean one, which the load is about.
    const double load = seconds / suite.jobs.back().arrival / suite.cluster.gpus();
    EXPECT_GT(load, .25) << shape;
    EXPECT_LT(load, 1.5) << shape;
  }
  EXPECT_NE(error_of("training@little").find("must be one of small, three"), std::string::npos);
}

/// Speed grows with the square root of the GPUs.
class RootTruth final : public Truth {
 public:
  [[nodiscard]] double throughput(const SimJob& /*job*/, const Setting& setting,
                                  double /*done*/) const override {
    return setting.holds() ? std::sqrt(setting.gpus()) : 0;
  }
};

TEST(Optimus, GivesGpusWhereTheyShortenRemainingTimesMost) {
  Suite suite;
  suite.cluster = parse_cluster_shape("a:1x8").value();
  suite.truth = std::make_shared<RootTruth>();
  for (const double work : {100'000.0, 10'000.0}) {
    SimJob job;
    job.key = job.model = std::to_string(suite.jobs.size());
    job.work = work;
    job.max_gpus = 8;
    suite.jobs.push_back(job);
  }
  /// The GPUs of each job from the begin on.
  const auto first_sizes = [&] {
    std::map<int, int> sizes;
    for (const AllocationInterval& one : play(suite, "optimus", kNever).intervals) {
      if (one.from == 0) sizes[one.job.value()] = one.gpus;
    }
    return sizes;
  };
  const auto left = [](double work, int gpus) { return work / std::sqrt(gpus); };
  double best = kNever;
  int of_first = 0;
  for (int gpus = 1; gpus < 8; ++gpus) {  // all ways to share the GPUs
    const double sum = left(100'000, gpus) + left(10'000, 8 - gpus);
    if (sum < best) best = sum, of_first = gpus;
  }
  EXPECT_EQ(first_sizes(), (std::map<int, int>{{0, of_first}, {1, 8 - of_first}}));
  suite.jobs[1].min_gpus = suite.jobs[1].gpus = 4;
  EXPECT_EQ(first_sizes(), (std::map<int, int>{{0, 4}, {1, 4}})) << "no size below";
}

TEST(Optimus, RunsInGeneratedSuites) {
  for (const char* name : {"elastic@20/hours=4", "aiturbo-mix@50/jobs=80/gpus=16"}) {
    const Suite suite = made(name);
    EXPECT_GT(measure(play(suite, "optimus", suite.horizon), {}, 40, 0).finished, 10) << name;
  }
}

TEST(Native, WhatAFileCannotHoldIsSaid) {
  Suite suite = made("elastic@20");
  suite.jobs[2].step.reset();
  const auto text = native_text(suite);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().text,
            "suite elastic@20, job j00003: the native format cannot hold the speed of it; it can "
            "hold those of the suites aiturbo-mix and elastic");
}

TEST(Native, ColumnsOfStepsAreChecked) {
  const auto error = [](const char* text) {
    const auto table = CsvTable::parse(text, "w.csv");
    EXPECT_TRUE(table);
    const auto jobs = parse_native_jobs(*table);
    return jobs ? std::string{} : jobs.error().text;
  };
  EXPECT_EQ(error("job,arrival_s,gpus,work,model,batch,step_fixed_s\na,0,1,5,m,8,1\n"), "");
  EXPECT_EQ(error("job,arrival_s,gpus,work,model,step_fixed_s\na,0,1,5,m,1\n"),
            "w.csv:2:11: step_fixed_s '1': expected a batch beside it");
  EXPECT_EQ(error("job,arrival_s,gpus,run_s,batch,step_fixed_s\na,0,1,5,8,1\n"),
            "w.csv:2:11: step_fixed_s '1': expected work, in samples, beside it");
  EXPECT_EQ(error("job,arrival_s,gpus,run_s,servers\na,0,1,5,1\n"),
            "w.csv:2:9: servers '1': expected less than gpus");
  EXPECT_EQ(error("job,arrival_s,gpus,run_s,servers\na,0,2,5,1\n"),
            "w.csv:2:9: servers '1': expected columns step_... beside it");
  EXPECT_EQ(error("job,arrival_s,gpus,run_s,predictable\na,0,2,5,2\n"),
            "w.csv:2:9: predictable '2': expected 0 or 1");
  EXPECT_EQ(error("job,arrival_s,gpus,run_s,batch,max_batch\na,0,2,5,8,4\n"),
            "w.csv:2:11: max_batch '4': expected a range with the batch in it");
}

}  // namespace
}  // namespace rubato::sim
