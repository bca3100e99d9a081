// SPDX-License-Identifier: GPL-2.0-or-later
// Forecasts from the truth of a workload: exact, and nothing to explore.
#include "lib/sim/policies/exact_throughput.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lib/model/models.h"
#include "lib/policy/round.h"
#include "lib/sim/engine/metrics.h"
#include "test/sim/played.h"
#include "test/support/build_snapshot.h"
#include "test/support/seeds.h"

namespace rubato::sim {
namespace {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

/// Each model has its own speed per type and its own scaling. Jobs marked "halves" run half as fast
/// in the second half of their work. Work is in steps of `batch` samples.
class DrawnTruth final : public Truth {
 public:
  explicit DrawnTruth(std::uint64_t seed) : seed_(seed) {}
  [[nodiscard]] double throughput(const SimJob& job, const Setting& setting,
                                  double done) const override {
    if (!setting.type.valid()) return 0;
    const auto model = static_cast<std::uint64_t>(job.model.back());
    const auto type = static_cast<std::uint64_t>(setting.type.value());
    const double slow = job.more.contains("halves") && done >= job.work / 2 ? 0.5 : 1;
    return slow * (0.1 + uniform_noise(seed_, model, type)) *
           std::pow(setting.gpus(), 0.4 + 0.6 * uniform_noise(seed_, model, 9)) /
           std::sqrt(setting.nodes());
  }
  [[nodiscard]] double next_change(const SimJob& job, double done) const override {
    return job.more.contains("halves") && done < job.work / 2 ? job.work / 2 : kNever;
  }

 private:
  std::uint64_t seed_;
};

const std::vector<std::string> kTypes{"a", "b", "c"};

/// Jobs on a cluster of three types, and what a policy sees of them.
struct DrawnState {
  explicit DrawnState(std::uint64_t seed) : truth(seed) {
    Draw draw(seed);
    for (int i = 0; i < 8; ++i) {
      SimJob job;
      job.key = fmt::format("job{}", i);
      job.model = fmt::format("kind{}", draw.whole(0, 3));
      job.gpus = 1 << draw.whole(0, 3);
      job.min_gpus = 1;
      job.max_gpus = 8;
      job.work = draw.whole(100, 20'000);
      job.batch = draw.whole(1, 512);
      job.start_s = draw.whole(0, 300);
      job.restart_s = draw.whole(0, 300);
      if (draw.uniform() < .4) job.more["halves"] = "";
      jobs.push_back(std::move(job));
    }
    for (const auto index : indices<JobIndex>(jobs)) {
      JobView view;
      view.index = index;
      view.job = &jobs[index];
      view.done = draw.uniform() < .5 ? 0 : std::floor(draw.uniform() * jobs[index].work);
      view.started = view.done > 0;
      views.push_back(std::move(view));
      keys.push_back({static_cast<JobId>(index.value() + 1), test::kNow - 60});
    }
  }
  [[nodiscard]] PolicyState state() const { return {0, cluster, views, &truth, {}, {}}; }

  DrawnTruth truth;
  ClusterShape cluster = parse_cluster_shape("a:2x4,b:1x8,c:2x2").value();
  JobList jobs;
  std::vector<JobView> views;
  std::vector<JobKey> keys;
};

TEST(ExactThroughput, IsThatOfTheTruthToTheLastDigit) {
  for (std::uint64_t seed = 0; seed < test::seeds(30); ++seed) {
    const DrawnState drawn(seed);
    const PolicyState state = drawn.state();
    ExactThroughput rates(kTypes, false);
    rates.look(state, drawn.keys);
    ASSERT_TRUE(rates.measured());
    for (std::size_t i = 0; i < drawn.views.size(); ++i) {
      const JobView& view = drawn.views[i];
      for (const TypeIndex type : drawn.cluster.type_indices()) {
        for (int gpus = 1; gpus <= 9; ++gpus) {
          const Forecast found =
              rates.throughput(drawn.keys[i], {}, {.gpu_type = kTypes[type], .gpus = gpus});
          const bool fits = gpus <= drawn.cluster.gpus(type);
          const Setting setting = packed(drawn.cluster, type, gpus);
          const double truth = drawn.truth.throughput(*view.job, setting, view.done);
          EXPECT_EQ(found.throughput(), fits ? truth * view.job->batch : 0);
          EXPECT_EQ(found.feasible, fits);
          EXPECT_EQ(found.stddev, 0);
          EXPECT_TRUE(found.known_profile);
          EXPECT_GT(found.samples, 0) << "counts as measured: nothing to try";
        }
      }
    }
  }
}

TEST(ExactThroughput, WithKnownWorkIsTheMeanOverTheRest) {
  for (std::uint64_t seed = 0; seed < test::seeds(30); ++seed) {
    const DrawnState drawn(seed);
    const PolicyState state = drawn.state();
    ExactThroughput known(kTypes, true);
    known.look(state, drawn.keys);
    for (std::size_t i = 0; i < drawn.views.size(); ++i) {
      const JobView& view = drawn.views[i];
      const Setting setting = packed(drawn.cluster, 1, view.job->gpus);
      const double now = drawn.truth.throughput(*view.job, setting, view.done);
      const Resources own{.gpu_type = "b", .gpus = view.job->gpus};
      const double found = known.throughput(drawn.keys[i], {}, own).throughput();
      const double half = view.job->work / 2;
      if (!view.job->more.contains("halves") || view.done >= half) {
        EXPECT_EQ(found, now * view.job->batch);
        continue;
      }
      const double seconds = (half - view.done) / now + half / (now / 2);
      const double left = (view.job->work - view.done) * view.job->batch;
      EXPECT_NEAR(left / found, seconds, 1e-12 * seconds);
    }
  }
}

TEST(ExactThroughput, KnowsCostsAndTheEndOfARun) {
  DrawnState drawn(3);
  SimJob& job = drawn.jobs[0];
  job.more.clear();
  job.start_s = 7;
  job.restart_s = 11;
  JobView& view = drawn.views[0];
  view.started = false;
  view.done = 0;
  ExactThroughput known(kTypes, true);
  ExactThroughput rates(kTypes, false);
  const JobKey key = drawn.keys[0];
  known.look(drawn.state(), drawn.keys);
  EXPECT_EQ(known.start_seconds(key), 7);
  EXPECT_FALSE(known.seconds_left(key)) << "it waits";
  view.started = true;
  known.look(drawn.state(), drawn.keys);
  EXPECT_EQ(known.start_seconds(key), 11);
  view.now = {0, 4, {{0, 2}, {1, 2}}, 0, ""};
  view.cost_left = 5;
  view.done = 40;
  const PolicyState running = drawn.state();
  known.look(running, drawn.keys);
  rates.look(running, drawn.keys);
  EXPECT_EQ(known.start_seconds(key), 5);
  const double here = drawn.truth.throughput(job, {0, {2, 2}, 0, ""}, 40);
  EXPECT_EQ(known.seconds_left(key), 5 + (job.work - 40) / here) << "on its own nodes";
  EXPECT_FALSE(rates.seconds_left(key)) << "its work was not told";
  EXPECT_EQ(rates.start_seconds(key), 5);
  EXPECT_EQ(known.start_seconds({99, 0}), 0);
  EXPECT_FALSE(known.throughput({99, 0}, {}, {.gpu_type = "a", .gpus = 1}).known_profile);
}

/// Larger batches are faster and count less; two plans on each number of GPUs.
class Tuned final : public Truth {
 public:
  [[nodiscard]] double throughput(const SimJob&, const Setting& setting, double) const override {
    const double batch = setting.batch > 0 ? setting.batch : 64;
    const double raw = setting.gpus() * batch / (1 + batch / 100);
    const double plan = setting.plan.starts_with("zero") ? 2 : 1;
    return plan * raw * (400 + 64) / (400 + batch) / 64;
  }
  [[nodiscard]] std::vector<std::string> plans(const SimJob&,
                                               const Setting& setting) const override {
    return {fmt::format("dp={}", setting.gpus()), fmt::format("zero={}", setting.gpus())};
  }
  [[nodiscard]] double samples_per_unit(const SimJob&) const override { return 64; }
};

TEST(ExactThroughput, ChoosesTheBestPlanAndBatch) {
  const Tuned truth;
  const ClusterShape cluster = parse_cluster_shape("a:1x8,b:1x8,c:1x8").value();
  SimJob job;
  job.work = 100;
  job.batch = 64;
  JobView view;
  view.job = &job;
  std::vector<JobView> views{view};
  const std::vector<JobKey> keys{{1, 0}};
  const PolicyState state{0, cluster, views, &truth, {}, {}};
  for (const bool work : {true, false}) {
    ExactThroughput exact(kTypes, work);
    exact.look(state, keys);
    JobSpec spec;
    spec.profile = {"lab", "m"};
    EXPECT_FALSE(exact.choice(keys[0], spec, {"a", 4, 0, 0, 0})) << "nothing is left open";
    spec.batch = Batch{64, 1024};
    const auto batch = exact.choice(keys[0], spec, {"a", 4, 0, 0, 0});
    ASSERT_TRUE(batch);
    EXPECT_TRUE(batch->batch_chosen);
    EXPECT_FALSE(batch->plan_chosen);
    // The optimum over all batches is at 200.
    EXPECT_NEAR(static_cast<double>(batch->batch), 200, 40);
    JobSpec grows = spec;
    grows.batch_grows = true;
    EXPECT_EQ(exact.choice(keys[0], grows, {"a", 4, 0, 0, 0})->batch, batch->batch);
    SimJob large = job;
    large.batch = 512;
    views[0].job = &large;
    EXPECT_EQ(exact.choice(keys[0], grows, {"a", 4, 0, 0, 0})->batch, 512);
    views[0].job = &job;
    const Setting chosen{0, {4}, static_cast<double>(batch->batch), ""};
    EXPECT_EQ(batch->goodput, truth.throughput(job, chosen, 0) * 64);
    spec.shape = ModelShape{1000, 0, 0, 0, 0};
    spec.plans = Plans{false, {PlanKind::kDp}};
    EXPECT_EQ(exact.choice(keys[0], spec, {"a", 4, 0, 0, 0})->plan, "dp=4");
    spec.plans = Plans{true, {}};
    const auto plan = exact.choice(keys[0], spec, {"a", 4, 0, 0, 0});
    EXPECT_EQ(plan->plan, "zero=4");
    EXPECT_EQ(plan->goodput, 2 * batch->goodput);
    EXPECT_FALSE(exact.choice(keys[0], spec, {"a", 16, 0, 0, 0})->feasible);
  }
}

TEST(ExactThroughput, TheSpeedOfATypeIsTheMeanOverTheJobs) {
  const TwoSpeeds truth;
  const ClusterShape cluster = parse_cluster_shape("slow:1x2,fast:1x2").value();
  SimJob job;
  job.work = 100;
  JobView view;
  view.job = &job;
  const std::vector<JobView> views{view};
  const std::vector<JobKey> keys{{1, 0}};
  ExactThroughput exact({"slow", "fast"}, true);
  exact.look({0, cluster, views, &truth, {}, {}}, keys);
  EXPECT_DOUBLE_EQ(exact.speed("fast"), 1);
  EXPECT_DOUBLE_EQ(exact.speed("slow"), 0.25);
  exact.look({0, cluster, {}, &truth, {}, {}}, {});
  EXPECT_EQ(exact.speed("slow"), 1) << "no job to compare them by";
}

Config placing() {
  Config config;
  config.mode = Mode::kPlace;
  config.manage_all = true;
  return config;
}

/// The reasons and facts of a round over the jobs of `drawn`, each with 1 to 8 GPUs.
std::string said(const DrawnState& drawn, const Models& models) {
  Snapshot snapshot = test::make_cluster({{"a", 4}, {"a", 4}, {"b", 8}, {"c", 2}, {"c", 2}});
  for (std::size_t i = 0; i < drawn.views.size(); ++i) {
    const SimJob& from = *drawn.views[i].job;
    Job& job = test::add_pending(snapshot, from.gpus);
    job.account = "lab";
    job.time_limit = 10'000'000;
    job.hints.emplace();
    job.hints->job_type = from.model;
    job.hints->sizes = GpuSizes({{1, 8}});
    job.hints->work =
        Work{WorkUnit::kSamples, static_cast<std::int64_t>(from.work * from.batch), 0};
  }
  const Plan plan = round(snapshot, models, placing(), test::kNow);
  std::string text;
  for (const Explanation& one : plan.explanations) {
    text += one.reason + "\n";
    for (const auto& [name, value] : one.facts) text += fmt::format("{}={}\n", name, value);
  }
  return text;
}

TEST(ExactThroughput, IsNeverExplored) {
  const auto tries = AnyOf(HasSubstr("never measured"), HasSubstr("largest measured size"),
                           HasSubstr("too uncertain"), HasSubstr("estimated"));
  for (std::uint64_t seed = 0; seed < test::seeds(40); ++seed) {
    DrawnState drawn(seed);
    for (JobView& view : drawn.views) view.done = 0;
    const auto exact = std::make_shared<ExactThroughput>(kTypes, true);
    const PolicyState state = drawn.state();
    exact->look(state, drawn.keys);
    const std::string text = said(drawn, Models::with_forecasts({}, exact));
    EXPECT_THAT(text, HasSubstr("(1 report, within 0 %)"));
    EXPECT_THAT(text, Not(ContainsRegex("report, within [1-9]")));
    EXPECT_THAT(text, Not(tries)) << seed;
  }
  // The control: the same jobs, each type of job measured at one size on one GPU type.
  const DrawnState drawn(1);
  std::vector<ThroughputObservation> observations;
  for (const char* kind : {"kind0", "kind1", "kind2", "kind3"})
    observations.push_back({{"lab", kind}, "a", 1, 10, 20});
  const Models learned({}, std::make_shared<const ThroughputModel>(TypeSpeeds(), observations));
  EXPECT_THAT(said(drawn, learned), tries);
}

/// Runs of Rubato on jobs of four kinds; `noise` is that of reports.
RunMetrics placed(std::uint64_t seed, Information information, double noise) {
  DrawnState drawn(seed);
  Suite suite;
  suite.name = "drawn";
  suite.cluster = drawn.cluster;
  suite.truth = std::make_shared<DrawnTruth>(seed);
  suite.report_noise = noise;
  double time = 0;
  for (int i = 0; i < 24; ++i) {
    SimJob job = drawn.jobs[static_cast<std::size_t>(i % 8)];
    job.key = fmt::format("job{}", i);
    job.arrival = time += 60;
    job.predictable = i % 3 != 0;
    suite.jobs.push_back(std::move(job));
  }
  RunControl control;
  control.seed = seed;
  control.intervals = true;
  const auto record = run_suite(suite, "rubato-place", information, control);
  EXPECT_TRUE(record) << record.error().text;
  return *record;
}

TEST(Information, NoiseOfReportsMattersOnlyToThoseThatLearn) {
  int learned = 0;
  for (std::uint64_t seed = 0; seed < test::seeds(8); ++seed) {
    for (const auto information : {Information::kKnown, Information::kRates}) {
      const RunMetrics record = placed(seed, information, 0.05);
      EXPECT_EQ(record.information, information);
      EXPECT_TRUE(same(record, placed(seed, information, 0.5))) << seed;
    }
    const auto differ = [&](Information information) {
      return same(placed(seed, information, 0.05), placed(seed, information, 0.5)) ? 0 : 1;
    };
    learned += differ(Information::kLearned) + differ(Information::kBlind);
  }
  EXPECT_GT(learned, 0);
}

TEST(Information, OnlyTheWorkThatIsToldCounts) {
  // A short job behind a long one on one GPU, of the same kind: only work tells them apart.
  const auto first = [](Information information, bool predictable) {
    Suite suite;
    suite.name = "two";
    suite.cluster = parse_cluster_shape("a:1x1").value();
    suite.truth = std::make_shared<TwoSpeeds>();
    for (const double work : {200.0, 40'000.0, 100.0}) {  // the second and third arrive together
      SimJob job;
      job.key = fmt::format("{}", work);
      job.model = "kind";
      job.work = work;
      job.arrival = suite.jobs.empty() ? 0 : 1;
      job.time_limit = 100'000;
      job.predictable = predictable;
      suite.jobs.push_back(std::move(job));
    }
    Config config;
    config.priority_band = kNever;  // one band for all
    RunControl control;
    control.config = &config;
    const auto record = run_suite(suite, "rubato-place", information, control);
    EXPECT_TRUE(record) << record.error().text;
    return std::string(record->jobs[2].finish < record->jobs[1].finish ? "short" : "long");
  };
  EXPECT_EQ(first(Information::kKnown, true), "short");
  EXPECT_EQ(first(Information::kKnown, false), "short");
  EXPECT_EQ(first(Information::kRates, true), "long");
  EXPECT_EQ(first(Information::kLearned, true), "short");
  EXPECT_EQ(first(Information::kLearned, false), "long");
  EXPECT_EQ(first(Information::kBlind, true), "long");
}

TEST(Information, WordsAreThoseOfTheCommandLine) {
  for (const auto information :
       {Information::kKnown, Information::kRates, Information::kLearned, Information::kBlind}) {
    EXPECT_EQ(information_of(to_string(information)), information);
  }
  EXPECT_FALSE(information_of("oracle"));
  EXPECT_FALSE(learns(Information::kRates));
  EXPECT_TRUE(learns(Information::kBlind));
}

}  // namespace
}  // namespace rubato::sim
