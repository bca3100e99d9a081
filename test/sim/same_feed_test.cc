// SPDX-License-Identifier: GPL-2.0-or-later
// The same reports give the same forecasts, to the last digit, in slurmctld's feed and in the
// simulator's learner.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "lib/model/model_versions.h"
#include "lib/runtime/models_feed.h"
#include "lib/sim/policies/round_reports.h"
#include "lib/store/folder.h"
#include "lib/store/store.h"
#include "test/sim/played.h"

namespace rubato::sim {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr Seconds kBegin = 1'800'000'000;
const GpuTypeFacts kTypes{
    {{"a100", 3.0}, {"v100", 1.0}}, {{"a100", 40'000}, {"v100", 16'000}}, {{"a100", 300.0}}};
const ModelShape kShape{1'000'000'000, 1024, 24, 512, 16};
const std::set<ProfileShape> kShapes{{{"research", "llm"}, kShape}};

/// How a job of the test trains.
struct Training {
  std::string profile;
  std::string gpu_type;
  int gpus = 1;  ///< 0: on CPUs
  std::int64_t batch = 64;
  std::string plan{};
  int workers = 0;
  int servers = 0;
};

/// Jobs of several profiles: two GPU types, sizes, batches, plans, servers, and jobs on CPUs.
std::vector<Training> trainings() {
  std::vector<Training> all;
  for (const char* type : {"a100", "v100"}) {
    for (const int gpus : {1, 2, 4}) {
      all.push_back({"resnet", type, gpus, 64 * gpus});
      all.push_back({"resnet", type, gpus, 96 * gpus});
      all.push_back({"once", type, gpus, 32});
    }
    all.push_back({"servers", type, 4, 64, "", 4, 2});
    all.push_back({"servers", type, 8, 64, "", 8, 2});
    all.push_back({"servers", type, 8, 64, "", 8, 4});
  }
  for (const char* plan : {"zero=4", "dp=4", "dp=2,tp=2", "zero-offload=4"})
    all.push_back({"llm", "a100", 4, 32, plan});
  all.push_back({"llm", "a100", 2, 32, "zero=2"});
  all.push_back({"cpu", "", 0, 64, "", 4, 2});
  all.push_back({"cpu", "", 0, 64, "", 8, 2});
  return all;
}

/// One report as slurmctld receives it.
using Sent = store::Sample;

/// Two jobs of each training (of "once" only one), with reports in the warm-up and later. The first
/// job of a training resizes once.
std::vector<Sent> sent_reports() {
  Draw draw(5);
  std::vector<Sent> all;
  JobId next = 1;
  for (const Training& training : trainings()) {
    for (int copy = 0; copy < (training.profile == "once" ? 1 : 2); ++copy) {
      const JobId job = next++;
      // One job alone says it is much faster than others of its type show.
      const bool claims = training.profile == "once" && training.gpus == 4;
      const double cores = training.gpus > 0 ? 4 * training.gpus : 2 * training.workers;
      const double scale = training.gpus > 0 ? std::pow(training.gpus, .8) : training.workers / 4.;
      const double level = 100 * scale * (training.gpu_type == "a100" ? 2 : 1) *
                           std::pow(static_cast<double>(training.batch), .05) *
                           (.95 + .1 * draw.uniform()) * (claims ? 10 : 1);
      double done = 0;
      for (int i = 0; i < 6; ++i) {
        Sent report;
        report.job = {job, kBegin};
        report.run_start = kBegin + 10 * job;
        report.time = report.run_start + 40 * (i + 1);
        report.type = {"research", training.profile, false};
        report.gpu_type = training.gpu_type;
        report.gpus = training.gpus;
        report.nodes = 1;
        report.plan = training.plan;
        report.batch = training.batch;
        if (copy == 0 && i == 5 && training.profile == "resnet") report.batch *= 2;
        const double early = i == 0 ? .8 : 1;
        report.throughput = level * early * (.97 + .06 * draw.uniform());
        done += 40 * report.throughput;
        report.samples_done = static_cast<std::int64_t>(done);
        report.cores = static_cast<int>(cores);
        report.workers = training.workers;
        report.servers = training.servers;
        if (training.profile != "once") {
          const double step = static_cast<double>(report.batch) / report.throughput;
          report.iteration_time = step * (.99 + .02 * draw.uniform());
          if (training.servers == 0) report.sync_time = .1 * step * (training.gpus - 1);
          report.gradient_noise = 500 * (1 + draw.uniform());
        }
        all.push_back(report);
      }
    }
  }
  return all;
}

/// The report as a simulated job sends it.
MeasuredReport simulated(const Sent& sent) {
  SimJob job;
  job.cores_per_gpu = sent.gpus > 0 ? sent.cores / sent.gpus : 0;
  JobView view;
  view.job = &job;
  view.restarts = sent.restarts;
  JobReport report;
  report.setting = {0, {sent.gpus}, 0, sent.plan};
  report.seen.samples_per_s = sent.throughput;
  report.seen.batch = static_cast<double>(sent.batch);
  report.seen.step_s = sent.iteration_time.value_or(0);
  report.seen.sync_s = sent.sync_time.value_or(0);
  report.seen.noise = sent.gradient_noise.value_or(0);
  report.seen.workers = sent.workers;
  report.seen.servers = sent.servers;
  MeasuredReport made = measured_report(
      report, view,
      {{sent.type.account, sent.type.name}, sent.job, sent.gpu_type, sent.time, sent.run_start});
  if (sent.gpus == 0) made.cores = sent.cores;
  if (!sent.sync_time) made.parts.sync.reset();
  return made;
}

/// What a round could ask, as one list of numbers.
std::vector<double> forecasts_of(const Models& models) {
  std::vector<double> all;
  const auto add = [&](const Prediction& one) {
    for (const double value : {one.throughput, one.stddev, one.goodput,
                               static_cast<double>(one.batch), static_cast<double>(one.samples),
                               static_cast<double>(one.model_kind), one.feasible ? 1.0 : 0.0})
      all.push_back(value);
    for (const char letter : one.plan) all.push_back(letter);
  };
  for (const char* profile : {"resnet", "once", "llm", "servers", "cpu", "unknown"}) {
    JobSpec spec;
    spec.profile = {"research", profile};
    if (spec.profile.job_type == "resnet") spec.batch = Batch{64, 1024};
    if (spec.profile.job_type == "cpu") spec.device = Device::kAny;
    if (spec.profile.job_type == "llm") {
      spec.shape = kShape;
      spec.plans = Plans{true, {}};
      spec.batch = Batch{32, 32};
    }
    for (const char* type : {"a100", "v100", "t4"}) {
      for (const int gpus : {1, 2, 3, 4, 8, 16}) {
        const Resources at{type, gpus, 0, 4 * gpus, 64'000};
        add(models.predictor().predict(spec, at));
        if (!models.forecasts().measured()) continue;
        const Forecast plain = models.forecasts().throughput({1, 1}, spec, at);
        all.push_back(plain.log_throughput);
        all.push_back(plain.stddev);
        if (const auto choice = models.forecasts().choice({1, 1}, spec, at)) add(*choice);
      }
      all.push_back(models.forecasts().speed(type));
    }
    add(models.predictor().predict(spec, {"", 0, 1, 12, 0}));
  }
  return all;
}

/// Forecasts of slurmctld's feed, from a store with these reports.
std::vector<double> live_forecasts(const std::vector<Sent>& reports, const Config& config) {
  std::string name = ::testing::TempDir() + "/same_feedXXXXXX";
  const fs::path folder = mkdtemp(name.data());
  store::StoreOptions options;
  options.folder = folder / "rubato";
  {
    store::Store store(options, std::make_shared<SystemClock>());
    for (const Sent& one : reports) EXPECT_TRUE(store.push(one));
    EXPECT_TRUE(store.flush(60s));
    EXPECT_EQ(store.stats().flagged, 0) << "reports of this test are plausible";
    EXPECT_TRUE(store.stop(60s));
  }
  std::vector<double> all;
  {
    ModelsFeed feed(std::make_shared<SystemClock>(), [] {});
    const LearnerRules rules = learner_rules(config);
    FeedOffer offer;
    offer.speeds = kTypes.speeds;
    offer.gpu_memory = kTypes.gpu_memory;
    offer.gpu_links = kTypes.gpu_links;
    offer.shapes = kShapes;
    offer.database = folder / "rubato" / store::kDatabaseName;
    offer.settled = static_cast<std::int64_t>(reports.size());
    offer.warm_up = rules.use.warm_up;
    offer.half_life = rules.history.half_life;
    offer.bounds_unproven = rules.bounds_unproven;
    feed.offer(std::move(offer));
    EXPECT_TRUE(feed.wait_urgent(Steady::now() + 60s));
    if (feed.latest() != nullptr) all = forecasts_of(*feed.latest());
    feed.stop();
    EXPECT_TRUE(feed.wait(Steady::now() + 60s));
  }
  fs::remove_all(folder);
  return all;
}

std::vector<double> simulated_forecasts(const std::vector<Sent>& reports, const LearnerRules& rules,
                                        const std::function<void(MeasuredReport&)>& change = {}) {
  ReportedModels learner(rules);
  for (const Sent& one : reports) {
    MeasuredReport report = simulated(one);
    if (change) change(report);
    learner.take(report);
  }
  return forecasts_of(*learner.fit_when_due(kTypes, kShapes, 0));
}

TEST(SameFeed, TheSameReportsGiveTheSameForecasts) {
  const std::vector<Sent> reports = sent_reports();
  const Config config;
  const std::vector<double> live = live_forecasts(reports, config);
  const std::vector<double> simulator = simulated_forecasts(reports, learner_rules(config));
  ASSERT_GT(live.size(), 500U);
  ASSERT_EQ(live.size(), simulator.size());
  for (std::size_t i = 0; i < live.size(); ++i) EXPECT_EQ(live[i], simulator[i]) << "number " << i;
}

// What this test compares would differ if one of the feeds left something out.
TEST(SameFeed, EachPartOfAReportAndEachRuleCounts) {
  const std::vector<Sent> reports = sent_reports();
  const LearnerRules usual = learner_rules(Config());
  const std::vector<double> whole = simulated_forecasts(reports, usual);
  const std::vector<std::pair<const char*, std::function<void(MeasuredReport&)>>> parts = {
      {"iteration", [](MeasuredReport& one) { one.parts.iteration.reset(); }},
      {"sync", [](MeasuredReport& one) { one.parts.sync.reset(); }},
      {"noise", [](MeasuredReport& one) { one.parts.noise.reset(); }},
      {"servers", [](MeasuredReport& one) { one.servers = one.workers = 0; }},
      {"cores", [](MeasuredReport& one) { one.cores = 0; }},
      {"plan", [](MeasuredReport& one) { one.throughput.configuration.plan.clear(); }},
      {"batch", [](MeasuredReport& one) { one.throughput.configuration.batch = 64; }},
      {"nodes", [](MeasuredReport& one) { one.throughput.configuration.nodes = 2; }},
      {"start", [](MeasuredReport& one) { one.throughput.run_start = 0; }},
  };
  for (const auto& [name, change] : parts)
    EXPECT_NE(simulated_forecasts(reports, usual, change), whole) << name;
  LearnerRules warm = usual;
  warm.use.warm_up = 0;
  EXPECT_NE(simulated_forecasts(reports, warm), whole);
  LearnerRules unbound = usual;
  unbound.bounds_unproven = false;
  EXPECT_NE(simulated_forecasts(reports, unbound), whole);
  LearnerRules prior = usual;
  prior.fits_hyperparameters = false;
  EXPECT_NE(simulated_forecasts(reports, prior), whole);
  LearnerRules young = usual;
  young.history.half_life = 100;
  EXPECT_NE(simulated_forecasts(reports, young), whole);
}

}  // namespace
}  // namespace rubato::sim
