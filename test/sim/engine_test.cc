// SPDX-License-Identifier: GPL-2.0-or-later
// The common loop: figures computed by hand for a few jobs, and invariants of every policy on
// random workloads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "lib/sim/engine/engine.h"
#include "lib/sim/engine/noise.h"
#include "lib/sim/engine/step_truth.h"
#include "lib/sim/engine/suite.h"

namespace rubato::sim {
namespace {

/// One unit of work per second and GPU, doubled on each later type; at most one type may refuse a
/// job.
class LineTruth final : public Truth {
 public:
  [[nodiscard]] double throughput(const SimJob& job, const Setting& setting,
                                  double done) const override {
    if (!setting.type.valid()) return 0;
    const double slow = done >= job.work / 2 && job.model == "halves" ? 0.5 : 1;
    return slow * setting.gpus() * std::pow(2, setting.type.value());
  }
  [[nodiscard]] double next_change(const SimJob& job, double done) const override {
    return job.model == "halves" && done < job.work / 2 ? job.work / 2 : kNever;
  }
};

ClusterShape cluster(const char* text) { return parse_cluster_shape(text).value(); }

SimJob make_job(const std::string& key, double arrival, int gpus, double work) {
  SimJob job;
  job.key = key;
  job.model = "line";
  job.arrival = arrival;
  job.gpus = job.min_gpus = job.max_gpus = gpus;
  job.work = work;
  return job;
}

Suite make_suite(const char* shape, JobList jobs) {
  Suite suite;
  suite.name = "test";
  suite.cluster = cluster(shape);
  suite.jobs = std::move(jobs);
  suite.truth = std::make_shared<LineTruth>();
  suite.limits = Limits::kExact;
  suite.types_in_order = true;
  return suite;
}

RunMetrics play(const Suite& suite, const std::string& policy, std::uint64_t seed = 0) {
  RunControl control;
  control.seed = seed;
  control.intervals = true;
  auto record = run_suite(suite, policy, Information::kLearned, control);
  EXPECT_TRUE(record) << (record ? "" : record.error().text);
  return record.value_or(RunMetrics{});
}

TEST(Engine, SerialJobsByHand) {
  Suite suite = make_suite("a:1x2", {make_job("one", 0, 2, 200), make_job("two", 10, 2, 100)});
  suite.jobs[1].start_s = 5;
  const RunMetrics record = play(suite, "fifo");
  EXPECT_DOUBLE_EQ(record.jobs[0].finish, 100);
  EXPECT_DOUBLE_EQ(record.jobs[1].first_start, 100);
  EXPECT_DOUBLE_EQ(record.jobs[1].finish, 155) << "the start costs 5 s";
  EXPECT_DOUBLE_EQ(record.end, 155);
  EXPECT_DOUBLE_EQ(record.busy_gpu_seconds, 310);
  const Metrics m = measure(record, {}, 2, 0);
  EXPECT_DOUBLE_EQ(m.avg_jct_s, (100 + 145) / 2.0);
  EXPECT_DOUBLE_EQ(m.gpu_utilisation, 1);
  EXPECT_DOUBLE_EQ(m.ideal_avg_jct_s, 75);
}

TEST(Engine, SpeedMayChangeWithProgress) {
  Suite suite = make_suite("a:1x1", {make_job("one", 0, 1, 100)});
  suite.jobs[0].model = "halves";
  EXPECT_DOUBLE_EQ(play(suite, "fifo").jobs[0].finish, 150);
  EXPECT_DOUBLE_EQ(play(suite, "fifo").jobs[0].ideal_s, 150);
}

TEST(Engine, TheTimeLimitEndsAJob) {
  Suite suite = make_suite("a:1x1", {make_job("one", 0, 1, 100), make_job("two", 0, 1, 10)});
  suite.jobs[0].time_limit = 40;
  const RunMetrics record = play(suite, "fifo");
  EXPECT_TRUE(record.jobs[0].dropped);
  EXPECT_FALSE(record.jobs[0].finished());
  EXPECT_DOUBLE_EQ(record.jobs[1].finish, 50);
}

TEST(Engine, ANodeThatGoesDownTakesItsJobs) {
  Suite suite = make_suite("a:2x1", {make_job("one", 0, 1, 100)});
  suite.jobs[0].restart_s = 7;
  suite.node_events = {{20, 0, 0, false}, {30, 0, 1, false}, {60, 0, 0, true}};
  const RunMetrics record = play(suite, "fifo");
  // 20 s on node 0; on node 1 until 30, including 7 for the restart; from 60 on, another restart.
  EXPECT_DOUBLE_EQ(record.jobs[0].finish, 60 + 7 + (100 - 20 - 3));
  EXPECT_EQ(record.jobs[0].restarts, 2);
}

TEST(Engine, CoresAndMemoryBindToo) {
  Suite suite = make_suite("a:1x4/8/64G", {make_job("one", 0, 2, 100), make_job("two", 0, 2, 100)});
  suite.jobs[0].cores_per_gpu = suite.jobs[1].cores_per_gpu = 3;
  EXPECT_DOUBLE_EQ(play(suite, "fifo").jobs[1].first_start, 50) << "6 of 8 cores are taken";
  suite.jobs[1].cores_per_gpu = 1;
  EXPECT_DOUBLE_EQ(play(suite, "fifo").jobs[1].first_start, 0);
  suite.jobs[1].memory_per_gpu = 40L << 10;
  suite.jobs[0].memory_per_gpu = 4L << 10;
  EXPECT_FALSE(play(suite, "fifo").jobs[1].finished()) << "more than the node ever has";
}

TEST(Engine, ACostOfResizingIsNotThatOfARestart) {
  /// Two GPUs first, one from 50 s on.
  class Shrinks final : public Policy {
   public:
    std::vector<Grant> decide(const PolicyState& state) override {
      Grant grant;
      grant.type = 0;
      grant.gpus = state.now < 50 ? 2 : 1;
      return std::vector<Grant>(state.jobs.size(), grant);
    }
    [[nodiscard]] double period() const override { return 50; }
  };
  Suite suite = make_suite("a:1x2", {make_job("one", 0, 2, 200)});
  suite.jobs[0].restart_s = 30;
  Shrinks restarts;
  // 100 units until 50 s, then one per second.
  EXPECT_DOUBLE_EQ(run_engine(suite, restarts, {})->jobs[0].finish, 50 + 30 + 100);
  suite.jobs[0].resize_s = 4;
  Shrinks resizes;
  EXPECT_DOUBLE_EQ(run_engine(suite, resizes, {})->jobs[0].finish, 50 + 4 + 100);
  class ShrinksByRestart final : public Policy {
   public:
    std::vector<Grant> decide(const PolicyState& state) override {
      std::vector<Grant> grants = shrinks_.decide(state);
      for (Grant& grant : grants) grant.restarts = state.now >= 50;
      return grants;
    }
    [[nodiscard]] double period() const override { return 50; }

   private:
    Shrinks shrinks_;
  };
  ShrinksByRestart chooses;
  EXPECT_DOUBLE_EQ(run_engine(suite, chooses, {})->jobs[0].finish, 50 + 30 + 100);
}

TEST(Engine, NoJobSpansTwoInterconnects) {
  // Six GPUs are free, but only three on each interconnect.
  Suite suite = make_suite("a@fast:1x3,a@slow:1x3", {make_job("one", 0, 4, 400)});
  EXPECT_FALSE(play(suite, "fifo").jobs[0].finished());
  suite = make_suite("a@slow:2x2,a@fast:2x2", {make_job("one", 0, 4, 400)});
  suite.jobs[0].types = {"a"};
  EXPECT_DOUBLE_EQ(play(suite, "fifo").jobs[0].finish, 100) << "the first group will do";
  EXPECT_DOUBLE_EQ(play(suite, "fifo-het").jobs[0].finish, 50) << "the second is faster";
  suite.jobs[0].types = {"a@slow"};
  EXPECT_DOUBLE_EQ(play(suite, "fifo-het").jobs[0].finish, 100) << "it asks for one";
  EXPECT_EQ(suite.cluster.groups[0].gpu, "a");
  EXPECT_EQ(suite.cluster.text(), "a@slow:2x2,a@fast:2x2");
  EXPECT_EQ(parse_cluster_shape("a:1x2,a@:1x2").error().text,
            "cluster:7: 'a@:1x2' where a type and its class of interconnect, as a100@ib was "
            "expected");
}

TEST(Engine, TheFirstHoldsOthersBackAndBackfillDoesNot) {
  const Suite suite =
      make_suite("a:1x4", {make_job("half", 0, 2, 200), make_job("whole", 1, 4, 400),
                           make_job("short", 2, 2, 100), make_job("long", 3, 2, 1000)});
  const RunMetrics fifo = play(suite, "fifo");
  EXPECT_DOUBLE_EQ(fifo.jobs[2].first_start, 200);
  const RunMetrics easy = play(suite, "easy");
  EXPECT_DOUBLE_EQ(easy.jobs[2].first_start, 2) << "it ends before the first one starts";
  EXPECT_DOUBLE_EQ(easy.jobs[1].first_start, 100);
  EXPECT_GE(easy.jobs[3].first_start, 200);
}

TEST(Engine, TheFastestTypeWithRoom) {
  const Suite suite =
      make_suite("a:1x2,b:1x2", {make_job("one", 0, 2, 400), make_job("two", 0, 2, 400)});
  EXPECT_DOUBLE_EQ(play(suite, "fifo").jobs[0].finish, 200);
  EXPECT_DOUBLE_EQ(play(suite, "fifo-het").jobs[0].finish, 100);
  EXPECT_DOUBLE_EQ(play(suite, "fifo-het").jobs[1].finish, 200);
}

/// Runs only on whole nodes of four GPUs.
class WholeNodes final : public Truth {
 public:
  [[nodiscard]] double throughput(const SimJob& /*job*/, const Setting& setting,
                                  double /*done*/) const override {
    return std::all_of(setting.placement.begin(), setting.placement.end(),
                       [](int gpus) { return gpus == 4; })
               ? setting.gpus()
               : 0;
  }
};

// Throughput on the last type is four times that on the first; only the truth contains it.
TEST(Engine, RubatoKnowsAllSpeedsWhereTheyAreKnown) {
  const Suite suite = make_suite("a:1x2,b:1x2,c:1x2", {make_job("one", 0, 1, 40000)});
  const auto record = run_suite(suite, "rubato-place", Information::kKnown, {});
  ASSERT_TRUE(record);
  EXPECT_DOUBLE_EQ(record->jobs[0].finish, 10000);
}

TEST(Engine, NobodyStartsWhereItMakesNoProgress) {
  Suite suite = make_suite("a:2x4", {make_job("four", 0, 4, 400), make_job("eight", 1, 8, 800)});
  suite.truth = std::make_shared<WholeNodes>();
  suite.grid = 60;
  for (const char* policy : {"fifo", "fifo-het", "backfill", "easy"}) {
    EXPECT_DOUBLE_EQ(play(suite, policy).jobs[1].first_start, 120) << policy;
  }
}

/// Always gives a job two GPUs.
class Stubborn final : public Policy {
 public:
  std::vector<Grant> decide(const PolicyState& state) override {
    Grant two;
    two.type = 0;
    two.gpus = 2;
    return std::vector<Grant>(state.jobs.size(), two);
  }
};

TEST(Engine, WhatCanNeverEndEndsTheRun) {
  Suite suite = make_suite("a:1x4", {make_job("one", 0, 2, 100)});
  suite.truth = std::make_shared<WholeNodes>();
  suite.grid = 60;
  Stubborn stubborn;
  const auto record = run_engine(suite, stubborn, {});
  ASSERT_TRUE(record) << record.error().text;
  EXPECT_FALSE(record->cut);
  EXPECT_FALSE(record->jobs[0].finished());
}

/// Rigid jobs of several sizes on two types.
Suite drawn(std::uint64_t seed) {
  JobList jobs;
  double time = 0;
  for (std::uint64_t i = 0; i < 40; ++i) {
    time += std::floor(400 * uniform_noise(seed, 1, i));
    const int gpus = 1 << static_cast<int>(4 * uniform_noise(seed, 2, i));
    SimJob job = make_job("job" + std::to_string(i), time, gpus,
                          100 + std::floor(20000 * uniform_noise(seed, 3, i)));
    job.model = "kind" + std::to_string(i % 5);
    job.start_s = 10;
    job.restart_s = 20;
    job.time_limit = 1e6;
    jobs.push_back(std::move(job));
  }
  return make_suite("a:2x8,b:3x4", std::move(jobs));
}

const std::vector<std::string> kEngine{"fifo",         "fifo-het", "backfill",
                                       "easy",         "las",      "gavel-las",
                                       "gavel-maxsum", "tiresias", "rubato-place"};

/// A node never has more GPUs in use than it has; a job has one placement; its GPU time matches.
void check_intervals(const Suite& suite, const RunMetrics& record) {
  std::map<std::pair<TypeIndex, GroupNodeIndex>, std::vector<std::pair<double, int>>> changes;
  std::vector<double> held(suite.jobs.size(), 0.0);
  std::map<int, std::vector<std::pair<double, double>>> spans;
  for (const AllocationInterval& s : record.intervals) {
    ASSERT_LT(s.from, s.to);
    ASSERT_GE(s.from, suite.jobs[s.job].arrival);
    changes[{s.type, s.node}].emplace_back(s.from, s.gpus);
    changes[{s.type, s.node}].emplace_back(s.to, -s.gpus);
    held[s.job] += (s.to - s.from) * s.gpus;
  }
  for (auto& [node, list] : changes) {
    std::sort(list.begin(), list.end());  // ends sort before starts
    int used = 0;
    for (const auto& [time, gpus] : list) {
      used += gpus;
      ASSERT_LE(used, suite.cluster.groups[node.first].gpus_per_node);
    }
    ASSERT_EQ(used, 0);
  }
  for (std::size_t i = 0; i < held.size(); ++i) {
    EXPECT_NEAR(held[i], record.jobs[i].gpu_seconds, 1e-6 * (1 + held[i])) << suite.jobs[i].key;
  }
}

class EachPolicy : public testing::TestWithParam<std::string> {};

TEST_P(EachPolicy, LosesNoJobAndOverlapsNowhere) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Suite suite = drawn(seed);
    const RunMetrics record = play(suite, GetParam(), seed);
    EXPECT_FALSE(record.cut);
    for (std::size_t i = 0; i < suite.jobs.size(); ++i) {
      ASSERT_TRUE(record.jobs[i].finished()) << GetParam() << " " << suite.jobs[i].key;
      EXPECT_GE(record.jobs[i].jct() * (1 + 1e-9), record.jobs[i].ideal_s);
    }
    check_intervals(suite, record);
  }
}

TEST_P(EachPolicy, WorkIsConserved) {
  const Suite suite = drawn(4);
  const RunMetrics record = play(suite, GetParam());
  // A GPU-second is one unit of work on type a, two on b; start costs do no work.
  std::vector<double> made(suite.jobs.size(), 0.0);
  for (const AllocationInterval& s : record.intervals) {
    made[s.job] += (s.to - s.from) * s.gpus * (s.type == 0 ? 1 : 2);
  }
  for (std::size_t i = 0; i < suite.jobs.size(); ++i) {
    const SimJob& job = suite.jobs[i];
    const double most = (job.start_s + record.jobs[i].restarts * job.restart_s) * job.gpus * 2;
    EXPECT_GE(made[i] * (1 + 1e-9), job.work) << job.key;
    EXPECT_LE(made[i], job.work + most + 1e-6 * job.work) << job.key;
  }
}

bool same(const RunMetrics& a, const RunMetrics& b) {
  return a.intervals == b.intervals && a.end == b.end &&
         std::equal(a.jobs.begin(), a.jobs.end(), b.jobs.begin(), b.jobs.end(),
                    [](const JobResult& x, const JobResult& y) {
                      return x.finish == y.finish && x.restarts == y.restarts &&
                             x.first_start == y.first_start;
                    });
}

TEST_P(EachPolicy, ARepetitionIsTheSame) {
  const Suite suite = drawn(5);
  EXPECT_TRUE(same(play(suite, GetParam(), 9), play(suite, GetParam(), 9)));
}

TEST_P(EachPolicy, CutAndResumedIsTheSame) {
  Suite suite = drawn(6);
  suite.types_in_order = false;  // as in the context below
  const RunMetrics whole = play(suite, GetParam());
  const auto policy =
      find_policy(GetParam())->make({suite.cluster, suite.jobs, 0, Information::kLearned});
  Engine engine(suite, *policy, 0, true);
  bool done = false;
  int cuts = 0;
  for (double until = 1000; !done; until += 1777) {
    RunControl control;
    control.until = until;
    const auto ran = engine.run(control);
    ASSERT_TRUE(ran) << ran.error().text;
    done = *ran;
    if (!done) ++cuts;
    ASSERT_EQ(engine.record().cut, !done);
  }
  EXPECT_GT(cuts, 3);
  EXPECT_TRUE(same(whole, engine.record()));
}

INSTANTIATE_TEST_SUITE_P(Policies, EachPolicy, testing::ValuesIn(kEngine), [](const auto& given) {
  std::string name = given.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Engine, AStopIsHeard) {
  std::atomic<bool> stop = true;
  RunControl control;
  control.stop = &stop;
  const auto record = run_suite(drawn(1), "fifo", Information::kLearned, control);
  ASSERT_TRUE(record);
  EXPECT_TRUE(record->cut);
  EXPECT_EQ(measure(*record, {}, 28, 0).finished, 0);
}

/// Grants a GPU that does not exist.
class Greedy final : public Policy {
 public:
  std::vector<Grant> decide(const PolicyState& state) override {
    std::vector<Grant> grants(state.jobs.size());
    for (Grant& grant : grants) {
      grant.type = 0;
      grant.gpus = 100;
    }
    return grants;
  }
};

TEST(Engine, AGrantThatDoesNotFitIsAnError) {
  Greedy greedy;
  const auto record = run_engine(make_suite("a:1x2", {make_job("one", 0, 1, 1)}), greedy, {});
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().text,
            "at 0 s job one was granted 100 GPUs of a, where there is no room");
}

/// Grants all jobs one GPU, with a plan and a batch.
class Chooses final : public Policy {
 public:
  Chooses(std::string plan, double batch) : plan_(std::move(plan)), batch_(batch) {}
  std::vector<Grant> decide(const PolicyState& state) override {
    for (const JobReport& report : state.reports) reports.push_back(report);
    Grant grant{0, 1, {}, batch_, plan_};
    return std::vector<Grant>(state.jobs.size(), grant);
  }
  [[nodiscard]] double period() const override { return 60; }
  [[nodiscard]] bool hears() const override { return true; }

  std::vector<JobReport> reports;

 private:
  std::string plan_;
  double batch_;
};

/// Knows two plans; a larger batch than 8 cannot run. Half of the samples of a batch of 8 count.
class TwoPlans final : public Truth {
 public:
  [[nodiscard]] double throughput(const SimJob&, const Setting& setting, double) const override {
    if (!setting.plan.empty() && setting.plan != "dp=1" && setting.plan != "zero=1") return 0;
    return setting.batch > 8 ? 0 : 1;
  }
  [[nodiscard]] Observation observe(const SimJob&, const Setting& setting, double) const override {
    return {.samples_per_s = 2, .batch = 8, .noise = 100, .step_s = 4, .sync_s = setting.batch / 8};
  }
  [[nodiscard]] double samples_per_unit(const SimJob&) const override { return 1; }
  [[nodiscard]] std::vector<std::string> plans(const SimJob&, const Setting&) const override {
    return {"dp=1", "zero=1"};
  }
};

Suite two_plans() {
  Suite suite = make_suite("a:1x2", {make_job("one", 0, 1, 600)});
  suite.jobs[0].min_batch = 4;
  suite.jobs[0].max_batch = 8;
  suite.truth = std::make_shared<TwoPlans>();
  return suite;
}

TEST(Engine, APlanOrBatchWithWhichAJobCannotRunIsAnError) {
  Chooses good("zero=1", 8);
  EXPECT_TRUE(run_engine(two_plans(), good, {}));
  Chooses plan("zero-dp", 0);
  const auto other = run_engine(two_plans(), plan, {});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().text,
            "at 0 s job one was granted plan 'zero-dp' and batch 0 on 1 GPUs of a, with which it "
            "cannot run; its plans there are dp=1, zero=1");
  Chooses batch("", 16);
  const auto large = run_engine(two_plans(), batch, {});
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().text,
            "at 0 s job one was granted plan '' and batch 16 on 1 GPUs of a, with which it cannot "
            "run; its batches are 4 to 8");
}

TEST(Engine, AJobReportsTheSamplesItProcessed) {
  Suite suite = two_plans();
  suite.report_noise = 0;
  Chooses policy("", 8);
  ASSERT_TRUE(run_engine(suite, policy, {}));
  ASSERT_EQ(policy.reports.size(), 9U);
  EXPECT_DOUBLE_EQ(policy.reports[1].time, 120);
  EXPECT_DOUBLE_EQ(policy.reports[1].done, 240) << "processed";
  EXPECT_DOUBLE_EQ(policy.reports[1].useful, 120) << "of its work";
}

TEST(Engine, StepTimesOfAReportHaveTheNoiseOfItsThroughput) {
  Suite suite = two_plans();
  Chooses policy("", 8);
  ASSERT_TRUE(run_engine(suite, policy, {}));
  for (const JobReport& report : policy.reports) {
    EXPECT_NE(report.seen.samples_per_s, 2);
    EXPECT_NEAR(report.seen.samples_per_s * report.seen.step_s, 8, 1e-9);
    EXPECT_NEAR(report.seen.step_s, 4 * report.seen.sync_s, 1e-9);
    EXPECT_NE(report.seen.noise, 100);
  }
}

TEST(StepTruth, AChosenBatchThatDoesNotFitIsSplit) {
  SimJob job;
  job.batch = 64;
  job.step = StepCosts{};
  job.step->fixed_s = 1;
  job.step->sample_s = 0.5;
  job.step->max_local = 16;
  const auto whole = step_span(job, {0, {4}, 64, ""});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->passes, 1);
  EXPECT_DOUBLE_EQ(whole->step_s, 1 + 16 * .5);
  const auto split = step_span(job, {0, {2}, 64, ""});
  ASSERT_TRUE(split);
  EXPECT_EQ(split->passes, 2);
  EXPECT_DOUBLE_EQ(split->step_s, 2 * (1 + 16 * .5));
  EXPECT_FALSE(step_span(job, {0, {2}, 0, ""})) << "the user's own batch must fit";
}

TEST(Engine, AnUnknownPolicyIsNamedWithTheNearest) {
  const auto record = run_suite(drawn(1), "fifo-hat", Information::kLearned, {});
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().text, "no policy 'fifo-hat'; did you mean fifo-het?");
  const auto longer = run_suite(drawn(1), "rubato-plac", Information::kLearned, {});
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().text, "no policy 'rubato-plac'; did you mean rubato-place?");
}

TEST(Tables, SayWhatEachPolicyKnows) {
  EXPECT_EQ(known_to("sia", Information::kLearned), "rates");
  EXPECT_EQ(known_to("backfill", Information::kKnown), "limits");
  EXPECT_EQ(known_to("tiresias", Information::kKnown), "attained service");
  EXPECT_EQ(known_to("rubato-place", Information::kBlind), "blind");
  EXPECT_EQ(known_to("(real)", Information::kKnown), "-");
  for (const PolicyEntry& policy : policies()) {
    EXPECT_EQ(policy.knows.empty(), calls_round(policy.name)) << policy.name;
  }
}

TEST(Tables, AreSortedAndWhole) {
  for (std::size_t i = 1; i < policies().size(); ++i) {
    EXPECT_LT(policies()[i - 1].name, policies()[i].name);
  }
  for (std::size_t i = 1; i < suites().size(); ++i) {
    EXPECT_LT(suites()[i - 1].name, suites()[i].name);
  }
  EXPECT_EQ(sim::make_suite("gavel-cont", "none", 0).error().text,
            "no suite 'gavel-cont'; did you mean gavel-cont48?");
  EXPECT_TRUE(sim::make_suite("gavel-multi-108", "none", 0)
                  .error()
                  .text.starts_with("suite gavel-multi-108: say which, as gavel-multi-108@1.6"));
}

}  // namespace
}  // namespace rubato::sim
