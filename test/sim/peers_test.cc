// SPDX-License-Identifier: GPL-2.0-or-later
// The peers' simulators: their files, and their rules on small cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>

#include "lib/model/plans/plan_space.h"
#include "lib/sim/engine/suite.h"
#include "lib/sim/peers/adaptive_fit.h"
#include "lib/sim/peers/adaptive_job.h"
#include "lib/sim/peers/adaptive_loop.h"
#include "lib/sim/peers/formats.h"
#include "lib/sim/peers/muri_tiresias.h"
#include "lib/sim/peers/pollux_search.h"
#include "lib/sim/peers/read_jobs.h"
#include "lib/sim/peers/rubick_loop.h"
#include "lib/sim/peers/rubick_policy.h"
#include "lib/sim/peers/sia_policy.h"
#include "test/support/shared_data.h"

namespace rubato::sim {
namespace {

/// A temporary file with this text.
class TextFile {
 public:
  explicit TextFile(const std::string& text)
      : path_(testing::TempDir() + "peers_test_" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv") {
    std::ofstream(path_) << text;
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  ~TextFile() { std::remove(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The error of reading `text`, without the leading file name.
template <typename Read>
std::string error_of(Read read, const std::string& text) {
  const TextFile file(text);
  const auto jobs = read(file.path());
  if (jobs) return "no error";
  const std::string& error = jobs.error().text;
  EXPECT_TRUE(error.starts_with(file.path() + ":")) << error;
  return error.substr(std::min(error.size(), file.path().size() + 1));
}

TEST(PeerFiles, KeepWhatTheyTell) {
  const TextFile file(
      "name,time,application,num_replicas,batch_size\r\n"
      "a-0,53,vision,6,2048\r\nb-1,154.5,text,1,32\r\n");
  const auto jobs = read_sia_jobs(file.path());
  ASSERT_TRUE(jobs) << jobs.error().text;
  ASSERT_EQ(jobs->size(), 2U);
  EXPECT_EQ((*jobs)[0].key, "a-0");
  EXPECT_EQ((*jobs)[0].model, "vision");
  EXPECT_EQ((*jobs)[0].gpus, 6);
  EXPECT_EQ((*jobs)[0].batch, 2048);
  EXPECT_EQ((*jobs)[1].arrival, 154.5);
}

TEST(PeerFiles, SayWhatIsWrongAndWhere) {
  const std::string sia = "name,time,application,num_replicas,batch_size\n";
  EXPECT_EQ(error_of(read_sia_jobs, "name,time,application,num_replica,batch_size\na,1,x,1,8\n"),
            "1:1: no column 'num_replicas'; the heading has 'num_replica'");
  EXPECT_EQ(error_of(read_sia_jobs, sia), "2:1: no jobs; expected one row per job");
  EXPECT_EQ(error_of(read_sia_jobs, sia + "a,-1,x,1,8\n"),
            "2:3: time '-1': expected a number of at least 0");
  EXPECT_EQ(error_of(read_sia_jobs, sia + "a,1,x,1,8\nb,1,x,0,8\n"),
            "3:7: num_replicas '0': expected a whole number from 1 to 1000000");
  EXPECT_EQ(error_of(read_sia_jobs, sia + "a,1,,1,8\n"), "2:5: application '': expected a name");
  EXPECT_EQ(error_of(read_sia_jobs, sia + "a,1,x,1,8\na,2,x,1,8\n"),
            "3:1: name 'a': appears twice; expected a unique name");
  EXPECT_EQ(error_of(read_sia_jobs, sia + "a,1,x,1\n"),
            "2:7: 4 fields; expected 5, as in the heading");
  const std::string rubick = "name,submission_time,application,num_gpus,exec_plan,steps,is_sla\n";
  EXPECT_EQ(error_of(read_rubick_jobs, rubick + "a,1,x,1,ga,10,2\n"),
            "2:15: is_sla '2': expected a whole number from 0 to 1");
  EXPECT_EQ(error_of(read_rubick_jobs, rubick + "a,1,x,1,ga,1.5,0\n"),
            "2:12: steps '1.5': expected a whole number");
  const std::string muri = "job_id,num_gpu,submit_time,iterations,model_name,iteration_time\n";
  EXPECT_EQ(error_of(read_muri_jobs, muri + "0,1,0,5,x,0\n"),
            "2:11: iteration_time '0': expected a number above 0");
  const std::string tiresias = "job_id,num_gpu,submit_time,model_name,duration\n";
  EXPECT_EQ(error_of(read_tiresias_jobs, tiresias + "0,1,soon,x,5\n"),
            "2:5: submit_time 'soon': expected a number of at least 0");
}

TEST(PeerFormats, RefuseAClusterOfSeveralTypes) {
  const TextFile file("job_id,num_gpu,submit_time,model_name,duration\n0,1,0,x,5\n");
  const auto cluster = parse_cluster_shape("a:1x4,b:1x4");
  ASSERT_TRUE(cluster);
  const auto suite = read_tiresias_suite(file.path(), "", *cluster);
  ASSERT_FALSE(suite);
  EXPECT_EQ(suite.error().text, "cluster: expected one type of GPU, as v100:8x8");
}

SiaApp small_app() {
  SiaApp app;
  app.name = "small";
  SiaProfile profile;
  profile.gpu_type = "t";
  const auto add = [&](std::vector<int> placement, double local, double step, double sync) {
    SiaStep row;
    row.nodes = static_cast<int>(placement.size());
    row.gpus = 0;
    for (const int gpus : placement) row.gpus += gpus;
    row.placement = std::move(placement);
    row.local_batch = local;
    row.step_time = step;
    row.sync_time = sync;
    profile.placements.push_back(row);
  };
  for (const double local : {8.0, 16.0}) {
    add({1}, local, local, 0);
    add({1, 2}, local, 2 * local, 4);
    add({4, 4}, local, 4 * local, 8);
  }
  SiaStep wide;
  wide.nodes = 4;
  wide.gpus = 16;
  wide.local_batch = 8;
  wide.step_time = 64;
  wide.sync_time = 16;
  profile.scalability.push_back(wide);
  app.profiles.push_back(profile);
  for (const std::int64_t batch : {8, 16}) {
    SiaTraining training;
    training.batch = batch;
    const double more = static_cast<double>(batch);
    training.epochs = {{100 + more, 50, 0, 1, more}, {200 + more, 90, 0, 3, more}};
    app.trainings.push_back(training);
  }
  return app;
}

TEST(AdaptiveApps, TakeStepsFromTheSmallestRotationAndBetweenMeasurements) {
  const auto app = AdaptiveApp::make(small_app(), {"t"});
  ASSERT_TRUE(app) << app.error().text;
  const StepTable& table = app->table(0);
  EXPECT_DOUBLE_EQ(table.at({1}, 12).step, 12);
  EXPECT_DOUBLE_EQ(table.at({2, 1}, 8).step, 16) << "the rotation 1,2 was measured";
  EXPECT_DOUBLE_EQ(table.at({2, 1}, 8).sync, 4);
  // Three nodes with 12 GPUs: halfway between two nodes with 8 and four with 16.
  EXPECT_DOUBLE_EQ(table.at({4, 4, 4}, 8).step, (32 + 64) / 2.0);
  EXPECT_DOUBLE_EQ(table.at({4, 4, 4}, 8).sync, (8 + 16) / 2.0);
  EXPECT_EQ(table.fits({2, 1}), 16);
  EXPECT_EQ(table.fits({4, 4, 4}), 8);
  EXPECT_EQ(table.fits_gpus(3), 16);
  EXPECT_EQ(table.fits_gpus(5), 0);
  EXPECT_EQ(AdaptiveApp::make(small_app(), {"u"}).error().text,
            "small: no step times on GPU type 'u'");
}

TEST(AdaptiveApps, TakeTheLeastProgressAndStatisticsBetweenBatches) {
  const auto app = AdaptiveApp::make(small_app(), {"t"});
  ASSERT_TRUE(app);
  EXPECT_EQ(app->epochs(), 2U);
  EXPECT_DOUBLE_EQ(app->progress_after(0), 0);
  EXPECT_DOUBLE_EQ(app->progress_after(1), 108);
  EXPECT_DOUBLE_EQ(app->gradient(12, 0).var, 12);
  EXPECT_DOUBLE_EQ(app->gain(8, 0), 1);
  EXPECT_DOUBLE_EQ(app->gain(16, 0), 17 / 9.0);
}

TEST(AdaptiveApps, SplitABatchAsTheSimulatorsDo) {
  EXPECT_EQ(split_batch(100, 3, 64, 1000, false), (BatchSplit{34, 0}));
  EXPECT_EQ(split_batch(100, 1, 40, 1000, false), (BatchSplit{34, 2}));
  EXPECT_EQ(split_batch(100, 1, 200, 1000, true), (BatchSplit{50, 1}));
  EXPECT_EQ(split_batch(100, 3, 64, 99, false), (BatchSplit{33, 0})) << "never above the largest";
}

TEST(AdaptiveApps, EndAnEpochAfterWholeSeconds) {
  const auto app = AdaptiveApp::make(small_app(), {"t"});
  ASSERT_TRUE(app);
  AdaptiveJob job;
  job.app = &*app;
  job.type = 0;
  job.placement = {1};
  job.split = {8, 0};
  job.delay = 10;
  // An iteration takes 8 s and makes a progress of 1: 108 iterations, then 100.
  EXPECT_DOUBLE_EQ(advance(job, 0, 864 + 10 + 4, {}), 864 + 10 + 4);
  EXPECT_EQ(job.epoch, 1U);
  EXPECT_DOUBLE_EQ(job.progress, 108.5);
  advance(job, 878, 10'000, {});
  EXPECT_TRUE(job.finished());
  EXPECT_DOUBLE_EQ(job.finish, 878 + 796);
}

TEST(AdaptiveFits, ForecastWhatWasMeasured) {
  const AdaptiveModel truth{.02, .001, .3, .004, .1, .002, 1.8};
  AdaptivePoints points;
  for (const auto& [nodes, gpus, local] : std::vector<std::tuple<int, int, std::int64_t>>{
           {1, 1, 32}, {1, 1, 64}, {1, 2, 32}, {1, 4, 64}, {2, 8, 32}, {4, 16, 64}}) {
    const auto batch = static_cast<double>(local);
    const double step = truth.step(nodes, gpus, batch);
    points[{nodes, gpus, local}] = {step, step - truth.pass(batch)};
  }
  const AdaptiveModel model = fit_adaptive(points, 1e-9);
  for (const auto& [key, seconds] : points) {
    const auto& [nodes, gpus, local] = key;
    // The priors of the fit pull its forecasts away, scipy ends there too.
    EXPECT_NEAR(model.step(nodes, gpus, static_cast<double>(local)) / seconds.step, 1, .03);
  }
  AdaptivePoints single;
  single[{1, 1, 32}] = {.05, 0};
  const AdaptiveModel free = fit_adaptive(single, 1e-9);
  EXPECT_NEAR(free.step(1, 4, 32), .05, 1e-3) << "exchange that was not seen is free";
}

// scipy 1.10, minimize(method="L-BFGS-B") with these bounds, the exact gradient and this `tol`.
TEST(AdaptiveFits, StopWhereTheArtifactsStop) {
  const AdaptivePoints points{{{1, 1, 128}, {.09, .0005}},
                              {{1, 4, 200}, {.19, .06}},
                              {{2, 8, 256}, {.4, .21}},
                              {{3, 12, 300}, {.52, .29}}};
  const AdaptiveModel sia = fit_adaptive(points, 1e-5);
  EXPECT_NEAR(sia.fixed, .02201059, 1e-6);
  EXPECT_NEAR(sia.overlap, 1.107461, 1e-5);
  EXPECT_NEAR(sia.step(1, 1, 32), .041506, 2e-6);
  EXPECT_NEAR(sia.step(2, 16, 32), .529211, 2e-5);
  const AdaptiveModel pollux = fit_adaptive(points, 2.220446049250313e-9);
  EXPECT_NEAR(pollux.step(1, 1, 32), .022649, 1e-4) << "nearer to the minimum";
  EXPECT_NEAR(pollux.step(2, 16, 32), .480442, 1e-3);
}

TEST(PolluxPlacement, FillsTheNodesWithMostFree) {
  std::vector<int> free{2, 4, 4};
  EXPECT_EQ(take_most_free(free, 6), (std::vector<GroupNodeIndex>{1, 1, 1, 1, 2, 2}));
  EXPECT_EQ(free, (std::vector<int>{2, 0, 2}));
  EXPECT_EQ(run_lengths({1, 1, 1, 1, 2, 2, 1}), (std::vector<int>{4, 2, 1}));
}

/// Jobs on 3 nodes of 4 GPUs. The first objective is minimal when all GPUs are used and jobs are
/// equal.
SearchProblem small_search() {
  SearchProblem problem;
  problem.jobs = 3;
  problem.nodes = 3;
  problem.node_gpus = 4;
  problem.most = {8, 4, 2};
  problem.now.assign(9, 0);
  problem.value = [](const Genome& genome) {
    double inverse = 0;
    int used = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      const int gpus = genome[3 * j] + genome[3 * j + 1] + genome[3 * j + 2];
      inverse += 1 / (gpus + 1e-3);
      used += gpus;
    }
    return std::pair(inverse, -static_cast<double>(used));
  };
  return problem;
}

TEST(PolluxSearch, FindsWhatFitsAndIsBest) {
  const SearchProblem problem = small_search();
  GeneticSearch search(7);
  const std::vector<Genome> front = search.run(problem, {problem.now});
  ASSERT_FALSE(front.empty());
  for (const Genome& genome : front) {
    for (std::size_t n = 0; n < 3; ++n) {
      EXPECT_LE(genome[n] + genome[3 + n] + genome[6 + n], 4);
      const auto spans = [&](std::size_t j) {
        return (genome[3 * j] > 0) + (genome[3 * j + 1] > 0) + (genome[3 * j + 2] > 0) > 1;
      };
      int spanning = 0;
      for (std::size_t j = 0; j < 3; ++j) spanning += spans(j) && genome[3 * j + n] > 0 ? 1 : 0;
      EXPECT_LE(spanning, 1) << "one job that spans nodes on a node";
    }
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_LE(genome[3 * j] + genome[3 * j + 1] + genome[3 * j + 2], problem.most[j]);
    }
  }
  // 6, 4 and 2 GPUs: all twelve, as equal as the limits allow.
  EXPECT_NEAR(problem.value(front.front()).first, 1 / 6.001 + 1 / 4.001 + 1 / 2.001, 1e-9);
  GeneticSearch again(7);
  EXPECT_EQ(again.run(problem, {problem.now}), front) << "same seed, same answer";
}

TEST(RubickPolicies, GrowSmallOnesInPlaceAndPutLargeOnesWhereTheyFit) {
  const RubickKind* small = *rubick_kind("bert");
  const RubickKind* large = *rubick_kind("llama7");
  std::vector<RubickView> jobs(2);
  jobs[0] = {small, 0, 0, true, {0, 2}};
  jobs[1] = {large, 0, 0, false, {0, 0}};
  rubick_round(jobs, 8);
  EXPECT_EQ(jobs[0].gpus, (std::vector<int>{0, 8})) << "it grows on its own node";
  EXPECT_EQ(jobs[1].gpus, (std::vector<int>{8, 0}));
  EXPECT_EQ(rubick_kind("bart").error().text,
            "unknown application 'bart' of Rubick; did you mean bert?");
}

TEST(RubickPolicies, ServeGuaranteedJobsFirstAndOnlyWhereTheirPromiseHolds) {
  const RubickKind* kind = *rubick_kind("bert");
  std::vector<RubickView> jobs(2);
  jobs[0] = {kind, 0, 0, false, {0}};
  jobs[1] = {kind, 0, 0, false, {0}, kind->throughput(8)};
  rubick_round(jobs, 8);
  EXPECT_EQ(jobs[0].gpus[0], 0) << "nothing is left";
  EXPECT_EQ(jobs[1].gpus[0], 8);
  jobs[0] = {kind, 0, 0, true, {4}};
  jobs[1] = {kind, 0, 0, false, {0}, kind->throughput(8)};
  rubick_round(jobs, 8);
  EXPECT_EQ(jobs[1].gpus[0], 0) << "of four GPUs 129.45 * 1.5 is less than the 196.67 of eight";
  jobs[0] = {kind, 0, 0, true, {4}};
  jobs[1] = {kind, 0, 0, false, {0}, kind->throughput(4)};
  rubick_round(jobs, 8);
  EXPECT_EQ(jobs[1].gpus[0], 4);
}

TEST(RubickPolicies, LetLargeJobsGrowBySlopeWhetherGuaranteedOrNot) {
  const RubickKind* kind = *rubick_kind("llama7");
  std::vector<RubickView> jobs(2);
  jobs[0] = {kind, 0, 0, true, {8, 8, 0, 0, 0, 0}, 1};  // more than 8 GPUs: the largest slope
  jobs[1] = {kind, 0, 0, false, {0, 0, 0, 0, 0, 0}};
  rubick_round(jobs, 8);
  const auto held = [&](std::size_t j) {
    return std::accumulate(jobs[j].gpus.begin(), jobs[j].gpus.end(), 0);
  };
  EXPECT_EQ(held(0), 16) << "the guarantee counts only where jobs are placed first";
  EXPECT_EQ(held(1), 32);
}

TEST(RubickPolicies, PromiseWhatTheUserMeasured) {
  const auto data = test::shared_data("rubick");
  if (!data) GTEST_SKIP() << "no shared data";
  const std::string head =
      "name,submission_time,duration,application,num_gpus,num_cpus,bandwidth,exec_plan,steps,"
      "is_sla\n";
  // A guaranteed roberta with gradient accumulation on one GPU does more than 1.5 times what is
  // predicted for one GPU. So it does not start beside a bert that leaves one GPU free.
  const TextFile file(head + "bert-0,0,1,bert,4,1,0,zero-dp,20000,0\n" +
                      "roberta-1,100,1,roberta,1,1,0,ga,100,1\n");
  const auto cluster = parse_cluster_shape("a800:1x5");
  auto suite = read_rubick_suite(file.path(), *data + "/rubick", *cluster);
  ASSERT_TRUE(suite) << suite.error().text;
  const auto late = run_suite(*suite, "rubick-honest", Information::kKnown, {});
  ASSERT_TRUE(late) << late.error().text;
  EXPECT_GT(late->jobs[1].first_start, late->jobs[0].finish);
  suite->jobs[1].guaranteed = false;
  const auto soon = run_suite(*suite, "rubick-honest", Information::kKnown, {});
  ASSERT_TRUE(soon) << soon.error().text;
  EXPECT_EQ(soon->jobs[1].first_start, 120);
}

JobList muri_jobs(std::initializer_list<std::tuple<double, int, double>> rows) {
  JobList jobs;
  for (const auto& [arrival, gpus, iterations] : rows) {
    SimJob job;
    job.key = std::to_string(jobs.size());
    job.model = "unknown";
    job.arrival = arrival;
    job.gpus = job.min_gpus = job.max_gpus = gpus;
    job.work = iterations;
    job.more["iteration_time"] = "1000";
    jobs.push_back(job);
  }
  return jobs;
}

TEST(MuriTiresias, LetsTheLessServedGoFirst) {
  const ClusterShape cluster = parse_cluster_shape("t:1x4").value();
  // The first job needs all GPUs; the second arrives after the first has passed the first limit.
  const RunMetrics record =
      replay_muri_tiresias(muri_jobs({{0, 4, 5000}, {1000, 4, 100}, {2000, 8, 5}}), cluster, {});
  ASSERT_EQ(record.jobs.size(), 3U);
  EXPECT_EQ(record.jobs[0].restarts, 1) << "it was put aside for the second";
  EXPECT_NEAR(record.jobs[1].finish, 1000 + 101.5, 15);
  EXPECT_GT(record.jobs[0].finish, 5000 * kMuriSlowdown + 100);
  EXPECT_FALSE(record.jobs[2].finished()) << "it is larger than the cluster";
}

TEST(PeerTruths, RunOnNodesThatWereNotMeasuredAsOnTheNearest) {
  RubickData data;
  RubickProfile profile;
  profile.name = "m";
  for (const auto& [nodes, seconds] : {std::pair(2, 3.0), std::pair(6, 5.0)}) {
    RubickProfileRow row;
    row.sample.configuration.nodes = nodes;
    row.sample.configuration.gpus = 24;
    row.sample.step_seconds = seconds;
    profile.rows.push_back(row);
  }
  data.profiles.push_back(profile);
  const RubickTimes times(data);
  EXPECT_EQ(times.nearest("m", 3, 24), 3);
  EXPECT_EQ(times.nearest("m", 4, 24), 5) << "of two as near the larger number of nodes";
  EXPECT_EQ(times.nearest("m", 8, 24), 5);
  EXPECT_FALSE(times.nearest("m", 3, 16));
  EXPECT_FALSE(times.seconds("m", {3, 8})) << "the simulator's own loop asks for what was measured";
}

/// The suite's models, as published for them.
const std::map<std::string, ModelShape> kRubickShapes{
    {"vit", {86'000'000, 768, 12, 197, 12}},
    {"roberta", {355'000'000, 1024, 24, 512, 16}},
    {"bert", {336'000'000, 1024, 24, 512, 16}},
    {"t5", {1'200'000'000, 1024, 48, 512, 16}},
    {"gpt2", {1'500'000'000, 1600, 48, 1024, 25}},
    {"llama7", {7'000'000'000, 4096, 32, 2048, 32}},
    {"llama30", {32'500'000'000, 6656, 60, 2048, 52}}};

TEST(PeerTruths, ShareTheirPlanNamesWithRequestsAndReports) {
  const auto data = test::shared_data("rubick");
  if (!data) GTEST_SKIP() << "no shared data";
  const std::string folder = *data + "/rubick";
  const auto suite = read_rubick_suite(folder + "/workloads/workload-base.csv", folder,
                                       *parse_cluster_shape("a800:8x8"));
  ASSERT_TRUE(suite) << suite.error().text;
  const auto measured = read_rubick(folder);
  ASSERT_TRUE(measured);
  // What was measured is found by the spelling of requests and reports.
  int found = 0;
  for (const RubickProfile& profile : measured->profiles) {
    SimJob job;
    job.model = profile.name;
    for (const RubickProfileRow& row : profile.rows) {
      Setting setting{TypeIndex{0}, {}, 0, to_text(row.sample.plan)};
      for (const char digit : row.placement) setting.placement.push_back(digit - '0');
      EXPECT_GT(suite->truth->throughput(job, setting, 0), 0) << profile.name << setting.plan;
      ++found;
    }
  }
  EXPECT_GT(found, 100);
  // Of what a round can grant, the plans that were measured run.
  int runs = 0;
  for (const auto& [model, shape] : kRubickShapes) {
    for (const int gpus : {1, 2, 4, 8}) {
      const PlanSite site{shape, 64, Plans{true, {}}, {}};
      SimJob job;
      job.model = model;
      for (const ExecutionPlan& plan : plans_at({gpus, 1, 4}, site)) {
        const Setting setting{TypeIndex{0}, {gpus}, 0, to_text(plan)};
        runs += suite->truth->throughput(job, setting, 0) > 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(runs, 50);
}

TEST(PeerSuites, NameTheNearest) {
  EXPECT_EQ(make_suite("sia-het64:philly-3", "/nowhere", 0).error().text,
            "suite sia-het64: workload 'philly-3': must be one of philly-1, philly-2, saturn-1, "
            "saturn-2; did you mean philly-1?");
  EXPECT_EQ(make_suite("pollux-t4-64:w9", "/nowhere", 0).error().text,
            "suite pollux-t4-64: no workload 'w9'; expected w1 to w8, or with a load as w6@0.5; "
            "did you mean w1?");
}

}  // namespace
}  // namespace rubato::sim
