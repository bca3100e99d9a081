// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/predictor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <thread>

#include "lib/json/models_fit.h"

namespace rubato {
namespace {

const ProfileName kVision{"lab", "vision"};
const ProfileName kModel{"lab", "model"};
const ProfileName kServers{"lab", "servers"};

/// A pass of 10 ms plus 1 ms per sample of the local batch, plus 5 ms of communication from two
/// GPUs on.
double step(double local, int gpus) { return 0.010 + 0.001 * local + (gpus > 1 ? 0.005 : 0); }

MeasuredRow row(const ProfileName& profile, int gpus, std::int64_t batch, double seconds) {
  MeasuredRow out{.profile = profile, .gpu_type = "a100", .gpus = gpus, .nodes = 1};
  out.batch = batch;
  out.throughput = static_cast<double>(batch) / seconds;
  out.samples = 20;
  out.cores = 4 * gpus;
  return out;
}

std::vector<MeasuredRow> vision_rows() {
  std::vector<MeasuredRow> rows;
  for (const int gpus : {1, 2, 4}) {
    for (const std::int64_t batch : {32, 64, 128}) {
      rows.push_back(row(kVision, gpus, batch, step(static_cast<double>(batch) / gpus, gpus)));
    }
  }
  return rows;
}

Predictor predictor(std::vector<MeasuredRow> rows) {
  std::vector<ThroughputObservation> observations;
  for (const MeasuredRow& one : rows) {
    observations.push_back({.profile = one.profile,
                            .gpu_type = one.gpu_type,
                            .gpus = one.gpus,
                            .throughput = one.throughput,
                            .samples = one.samples,
                            .batch = one.batch});
  }
  return {std::make_shared<const ThroughputModel>(TypeSpeeds(), observations),
          std::make_shared<const StepTimeModels>(std::move(rows))};
}

TEST(Predictor, ChoosesTheBatchOfARange) {
  const Predictor p = predictor(vision_rows());
  const JobSpec open{.profile = kVision, .batch = Batch{32, 128}};
  const Prediction found = p.predict(open, {.gpu_type = "a100", .gpus = 2, .nodes = 1});
  EXPECT_EQ(found.model_kind, ModelKind::kDataParallel);
  EXPECT_TRUE(found.batch_chosen);
  EXPECT_FALSE(found.plan_chosen);
  EXPECT_EQ(found.batch, 128);  // the fixed part of a step has the least effect there
  EXPECT_NEAR(found.throughput, 128 / step(64, 2), 0.1 * found.throughput);
  EXPECT_DOUBLE_EQ(found.goodput, found.throughput);
}

TEST(Predictor, ReportedNoiseKeepsTheBatchSmall) {
  std::vector<MeasuredRow> rows = vision_rows();
  for (MeasuredRow& one : rows) one.noise = 1;  // a larger batch adds almost no progress
  const Predictor p = predictor(rows);
  const JobSpec open{.profile = kVision, .batch = Batch{32, 128}};
  const Prediction found = p.predict(open, {.gpu_type = "a100", .gpus = 1, .nodes = 1});
  EXPECT_EQ(found.batch, 32);
  EXPECT_LE(found.goodput, found.throughput);
}

TEST(Predictor, WhereTheNoiseGrowsNoBatchBelowItsOwnIsChosen) {
  std::vector<MeasuredRow> rows = vision_rows();
  const JobSpec open{.profile = kVision, .batch = Batch{32, 128}, .batch_grows = true};
  JobSpec runs = open;
  runs.present_batch = 64;
  const Resources at{.gpu_type = "a100", .gpus = 1, .nodes = 1};
  EXPECT_EQ(predictor(rows).predict(open, at).batch, 128) << "of its noise nothing is known";
  for (MeasuredRow& one : rows) {
    one.noise = 1;
    if (one.batch == 128) one.samples = 500;  // the usual one
  }
  const Predictor p = predictor(rows);
  EXPECT_EQ(p.predict(open, at).batch, 128);
  const Prediction found = p.predict(runs, at);
  EXPECT_EQ(found.batch, 64);
  EXPECT_DOUBLE_EQ(found.goodput, found.throughput * (1 + 32) / (1 + 64)) << "samples as of 32";
  runs.batch_grows = false;
  EXPECT_EQ(p.predict(runs, at).batch, 32);
}

TEST(Predictor, AFixedBatchIsNotChosen) {
  const Predictor p = predictor(vision_rows());
  const JobSpec fixed{.profile = kVision, .batch = Batch{64, 64}};
  const Prediction found = p.predict(fixed, {.gpu_type = "a100", .gpus = 2});
  EXPECT_EQ(found.model_kind, ModelKind::kThroughput);
  EXPECT_FALSE(found.batch_chosen);
}

TEST(Predictor, AFixedBatchIsForecastAsItIsNotAtTheUsualOne) {
  std::vector<MeasuredRow> rows;
  for (const int gpus : {1, 2}) {
    for (const std::int64_t batch : {32, 64, 128, 256}) {
      rows.push_back(row(kVision, gpus, batch, step(static_cast<double>(batch) / gpus, gpus)));
      rows.back().samples = batch == 32 ? 500 : 20;  // the usual one
    }
  }
  const Predictor p = predictor(rows);
  const auto at = [&](std::int64_t batch) {
    const JobSpec fixed{.profile = kVision, .batch = Batch{batch, batch}};
    return p.predict(fixed, {.gpu_type = "a100", .gpus = 2}).throughput;
  };
  EXPECT_NEAR(at(32), 32 / step(16, 2), 0.05 * at(32));
  EXPECT_NEAR(at(256), 256 / step(128, 2), 0.05 * at(256));
  // Without a hint the batch that it reports counts.
  const JobSpec running{.profile = kVision, .present_batch = 256};
  EXPECT_DOUBLE_EQ(p.predict(running, {.gpu_type = "a100", .gpus = 2}).throughput, at(256));
}

// Jobs with a fixed batch per GPU. One that runs on a GPU says no batch for more of them.
TEST(Predictor, TheBatchOfALastReportIsOfItsSize) {
  std::vector<ThroughputObservation> observations;
  for (const int gpus : {1, 2})
    observations.push_back({kVision, "a100", gpus, 100.0 * gpus, 200, 1, 64 * gpus});
  const Predictor p(std::make_shared<const ThroughputModel>(TypeSpeeds(), observations), nullptr);
  const auto at = [&](const JobSpec& job, int gpus) {
    return p.predict(job, {.gpu_type = "a100", .gpus = gpus});
  };
  const JobSpec waiting{.profile = kVision};
  const JobSpec running{.profile = kVision, .present_batch = 64, .present_gpus = 1};
  EXPECT_DOUBLE_EQ(at(running, 2).throughput, at(waiting, 2).throughput);
  EXPECT_NEAR(at(running, 2).throughput, 200, 10);
  EXPECT_EQ(at(running, 1).batch, 64);
  EXPECT_EQ(at(running, 2).batch, 128);
  const JobSpec large{.profile = kVision, .present_batch = 128, .present_gpus = 1};
  EXPECT_EQ(at(large, 2).batch, 256) << "twice the usual one everywhere";
  const JobSpec unknown{.profile = kVision, .present_batch = 64};
  EXPECT_EQ(at(unknown, 2).batch, 64) << "with how many GPUs is not known";
}

TEST(Predictor, NodesOfTheJobCount) {
  std::vector<MeasuredRow> rows;
  for (const int nodes : {1, 4}) {
    rows.push_back(row(kVision, 4, 64, nodes == 1 ? 0.05 : 0.1));
    rows.back().nodes = nodes;
  }
  std::vector<ThroughputObservation> observations;
  for (const MeasuredRow& one : rows)
    observations.push_back({one.profile, "a100", 4, one.throughput, 200, one.nodes, one.batch});
  const Predictor p(std::make_shared<const ThroughputModel>(TypeSpeeds(), observations), nullptr);
  const JobSpec job{.profile = kVision, .batch = Batch{64, 64}};
  const double one = p.predict(job, {.gpu_type = "a100", .gpus = 4, .nodes = 1}).throughput;
  const double four = p.predict(job, {.gpu_type = "a100", .gpus = 4, .nodes = 4}).throughput;
  EXPECT_NEAR(one, 64 / 0.05, 0.1 * one);
  EXPECT_NEAR(four, 64 / 0.1, 0.1 * four);
}

TEST(Predictor, ThePresentNoiseOfTheJobDecides) {
  const Predictor p = predictor(vision_rows());
  JobSpec open{.profile = kVision, .batch = Batch{32, 128}};
  const Resources at{.gpu_type = "a100", .gpus = 1, .nodes = 1};
  open.noise = 1;
  const Prediction early = p.predict(open, at);
  EXPECT_EQ(early.batch, 32);
  open.noise = 10'000;
  const Prediction late = p.predict(open, at);
  EXPECT_EQ(late.batch, 128);
  EXPECT_LT(late.goodput, late.throughput);
  EXPECT_GT(late.goodput, 0.95 * late.throughput);
  const Forecast own = p.unchanged(
      {.profile = kVision, .batch = Batch{32, 128}, .present_batch = 128, .noise = 32}, at);
  EXPECT_DOUBLE_EQ(own.efficiency, 64.0 / 160);
  EXPECT_DOUBLE_EQ(own.goodput(), own.throughput() * 0.4);
}

/// Half a second of a step does not depend on the batch.
std::vector<MeasuredRow> one_batch() {
  std::vector<MeasuredRow> rows;
  for (const int gpus : {1, 2, 4}) {
    rows.push_back(row(kVision, gpus, 32L * gpus, 0.5 + 0.001 * 32));
    rows.back().samples = 200;
  }
  return rows;
}

TEST(Predictor, ABatchThatNoJobHadIsTriedWhereItPays) {
  const Predictor p = predictor(one_batch());
  const JobSpec open{.profile = kVision, .batch = Batch{32, 1024}};
  const Resources at{.gpu_type = "a100", .gpus = 1, .nodes = 1};
  const Prediction found = p.predict(open, at);
  EXPECT_TRUE(found.batch_chosen);
  EXPECT_GT(found.batch, 32);
  EXPECT_LE(found.batch, 256) << "at most twice the largest local batch, which had 32 samples";
  // Where larger batches add no progress, nothing is tried.
  JobSpec quiet = open;
  quiet.noise = 0;
  EXPECT_EQ(p.predict(quiet, at).batch, 32);
}

TEST(Predictor, CurveAndForecastChooseTheSameBatch) {
  std::vector<MeasuredRow> rows;
  for (const int gpus : {1, 2, 4, 8}) {
    for (const std::int64_t batch : {64, 256}) {
      rows.push_back(row(kModel, gpus, batch, 0.4 + 0.05 * static_cast<double>(batch) / gpus));
      rows.back().plan = "dp=" + std::to_string(gpus);
    }
  }
  const Predictor p = predictor(rows);
  JobSpec job{.profile = kModel,
              .shape = ModelShape{350'000'000, 1024, 24, 512, 16},
              .plans = Plans{false, {PlanKind::kDp}},
              .batch = Batch{64, 256}};
  const Resources at{.gpu_type = "a100", .gpus = 8, .nodes = 1, .cores = 32, .memory_mib = 1 << 20};
  for (const std::optional<double> noise : {std::optional<double>(), std::optional(1.0)}) {
    job.noise = noise;
    const Prediction found = p.predict(job, at);
    const Prediction point = p.curve(job, at, std::vector<int>{8}).back();
    EXPECT_EQ(point.batch, found.batch);
    EXPECT_EQ(point.batch, noise ? 64 : 256);
    EXPECT_NEAR(point.goodput, found.goodput, 0.011 * found.goodput);
  }
}

TEST(Predictor, BandwidthInsideANodeIsThatOfTheType) {
  // One GPU only was measured: what two need for their gradients follows from the links.
  std::vector<MeasuredRow> rows{row(kModel, 1, 64, 1.0)};
  rows[0].plan = "dp=1";
  JobSpec job{.profile = kModel,
              .shape = ModelShape{3'000'000'000, 2048, 24, 512, 16},
              .plans = Plans{false, {PlanKind::kDp}},
              .batch = Batch{64, 64}};
  const Resources two{.gpu_type = "a100", .gpus = 2, .nodes = 1, .cores = 8};
  const auto with = [&](double link) {
    std::map<std::string, double> links;
    if (link > 0) links["a100"] = link;
    return StepTimeModels(rows, {}, links).predict(job, two)->throughput;
  };
  EXPECT_GT(with(900), with(64)) << "NVLink against PCIe";
  EXPECT_DOUBLE_EQ(with(0), with(400)) << "the guess is the published model's";
  // Measured steps correct it: gradients take twelve times as long as with 400 GB/s.
  const auto seconds = [](int gpus) { return 1.0 / gpus + 2.4 * (gpus - 1) / gpus; };
  std::vector<MeasuredRow> slow = rows;
  for (const int gpus : {2, 4, 8}) {
    slow.push_back(row(kModel, gpus, 64, seconds(gpus)));
    slow.back().plan = "dp=" + std::to_string(gpus);
  }
  const StepTimeModels fitted(slow);
  for (const int gpus : {2, 4, 8}) {
    const Resources at{.gpu_type = "a100", .gpus = gpus, .nodes = 1, .cores = 4 * gpus};
    EXPECT_NEAR(64 / fitted.predict(job, at)->throughput, seconds(gpus), 0.15 * seconds(gpus));
  }
}

TEST(Predictor, ChoosesAPlanForAShape) {
  std::vector<MeasuredRow> rows;
  for (const int gpus : {1, 2, 4, 8}) {
    MeasuredRow one = row(kModel, gpus, 64, 0.2 + 6.4 / gpus);
    one.plan = "dp=" + std::to_string(gpus);
    rows.push_back(one);
  }
  const Predictor p = predictor(rows);
  const JobSpec job{.profile = kModel,
                    .shape = ModelShape{350'000'000, 1024, 24, 512, 16},
                    .plans = Plans{true, {}},
                    .batch = Batch{64, 64}};
  const Prediction found = p.predict(job, {.gpu_type = "a100", .gpus = 4, .nodes = 1, .cores = 16});
  EXPECT_EQ(found.model_kind, ModelKind::kPlans);
  EXPECT_TRUE(found.plan_chosen);
  EXPECT_NE(found.plan, "");
  EXPECT_TRUE(found.feasible);
  EXPECT_GT(found.throughput, 0);
  // Without a hint `plans` it keeps the submitted plan.
  const JobSpec plain{.profile = kModel, .shape = job.shape};
  EXPECT_EQ(p.predict(plain, {.gpu_type = "a100", .gpus = 4}).plan, "");
}

/// Rows of a job that runs data-parallel on 1 to 8 GPUs, with its plan text.
std::vector<MeasuredRow> model_rows() {
  std::vector<MeasuredRow> rows;
  for (const int gpus : {1, 2, 4, 8}) {
    MeasuredRow one = row(kModel, gpus, 64, 0.2 + 6.4 / gpus);
    one.plan = "dp=" + std::to_string(gpus);
    rows.push_back(one);
  }
  return rows;
}

JobSpec model_job(std::int64_t params) {
  return {.profile = kModel,
          .shape = ModelShape{params, 1024, 24, 512, 16},
          .plans = Plans{true, {}},
          .batch = Batch{64, 64}};
}

TEST(StepTimeModels, AReadyVersionMakesNoFit) {
  std::vector<MeasuredRow> rows = model_rows();
  for (const MeasuredRow& one : vision_rows()) rows.push_back(one);
  const StepTimeModels lazy(rows);
  const JobSpec planned = model_job(1'500'000'000);
  const auto ready = lazy.ready({{kModel, *planned.shape}});
  const Resources at{.gpu_type = "a100", .gpus = 4, .nodes = 1, .cores = 16, .memory_mib = 1 << 20};
  const auto plan = ready->predict(planned, at);
  const auto batch = ready->predict({.profile = kVision, .batch = Batch{32, 128}}, at);
  ASSERT_TRUE(plan && batch);
  const StepTimeModels same(rows);
  EXPECT_EQ(plan->throughput, same.predict(planned, at)->throughput);
  EXPECT_EQ(plan->plan, same.predict(planned, at)->plan);
  EXPECT_GT(same.fits_made(), 0);
  // A shape of which no fit was made: another model answers.
  EXPECT_FALSE(ready->predict(model_job(900'000'000), at));
  EXPECT_EQ(ready->fits_made(), 0);
}

TEST(StepTimeModels, ANewVersionKeepsFitsAndAReplayAnswersAlike) {
  const StepTimeModels lazy(model_rows());
  const JobSpec first = model_job(1'500'000'000);
  const JobSpec second = model_job(900'000'000);
  const auto before = lazy.ready({{kModel, *first.shape}});
  const std::int64_t made = lazy.fits_made();
  const auto now = lazy.ready({{kModel, *second.shape}, {kModel, *first.shape}});
  EXPECT_EQ(lazy.fits_made(), made + 1) << "of the new shape alone";
  const Models models({{"a100", 1.0}}, nullptr, before);
  const auto read = models_fit_from_json(to_json(fit_of(models)));
  ASSERT_TRUE(read) << read.error().text;
  const Models again = models_of(*read);
  const Resources at{.gpu_type = "a100", .gpus = 4, .nodes = 1, .cores = 16, .memory_mib = 1 << 20};
  const StepTimeModels* const replayed = again.predictor().step_time_models();
  ASSERT_NE(replayed, nullptr);
  EXPECT_EQ(replayed->shapes(), before->shapes());
  EXPECT_EQ(replayed->predict(first, at)->throughput, before->predict(first, at)->throughput);
  EXPECT_FALSE(replayed->predict(second, at)) << "the round had no fit of it either";
  EXPECT_TRUE(now->predict(second, at));
}

// The Gaussian process is one of GPUs.
TEST(Predictor, KnowsJobsOnCpusFromTheirReports) {
  MeasuredRow row;
  row.profile = kModel;
  row.nodes = 1;
  row.cores = 8;
  row.batch = 64;
  row.throughput = 80;
  row.samples = 30;
  const auto rows = std::make_shared<const StepTimeModels>(std::vector{row});
  const Resources cores{.nodes = 1, .cores = 8};
  for (const bool process : {false, true}) {
    const auto other = process ? std::make_shared<const ThroughputModel>(TypeSpeeds()) : nullptr;
    const Predictor predictor(other, rows);
    const Prediction known = predictor.predict({.profile = kModel, .device = Device::kAny}, cores);
    EXPECT_TRUE(known.feasible && known.known_profile);
    EXPECT_EQ(known.model_kind, ModelKind::kStepTime);
    EXPECT_NEAR(known.throughput, 80, 1);
    EXPECT_FALSE(predictor.predict({.profile = kModel}, cores).feasible) << "it needs GPUs";
    EXPECT_FALSE(predictor.predict({.profile = kVision, .device = Device::kAny}, cores).feasible);
  }
}

TEST(Predictor, NoPlanIsChosenThatAGpuCannotHold) {
  // Parameters and optimiser take 16 bytes per parameter if every GPU has the whole model.
  const JobSpec job = model_job(1'500'000'000);
  const Resources at{.gpu_type = "a100", .gpus = 4, .nodes = 1, .cores = 16, .memory_mib = 1 << 20};
  const auto plan = [&](std::map<std::string, std::int64_t> memory) {
    return StepTimeModels(model_rows(), std::move(memory)).predict(job, at);
  };
  const auto plenty = plan({{"a100", 81920}});
  const auto tight = plan({{"a100", 16384}});
  const auto none = plan({{"a100", 64}});
  ASSERT_TRUE(plenty && tight && none);
  EXPECT_TRUE(plenty->feasible);
  EXPECT_EQ(plenty->plan.find("zero-offload"), std::string::npos) << plenty->plan;
  EXPECT_TRUE(tight->feasible);
  EXPECT_NE(tight->plan, plenty->plan);
  EXPECT_LE(tight->throughput, plenty->throughput);
  EXPECT_FALSE(none->feasible) << "nothing fits into 64 MiB";
  EXPECT_EQ(plan({{"v100", 64}})->plan, plan({})->plan) << "of another type nothing is said";
}

TEST(Predictor, TheCurveNeverFallsAndSaysWhatItUses) {
  const std::vector<int> sizes{8, 1, 4, 2, 16};
  const Predictor vision = predictor(vision_rows());
  const Predictor model = predictor(model_rows());
  const Resources at{.gpu_type = "a100", .gpus = 8, .nodes = 1, .cores = 32, .memory_mib = 1 << 20};
  for (const auto& [p, job] :
       {std::pair<const Predictor&, JobSpec>{vision, {.profile = kVision, .batch = Batch{32, 128}}},
        std::pair<const Predictor&, JobSpec>{model, model_job(350'000'000)}}) {
    const std::vector<Prediction> curve = p.curve(job, at, sizes);
    ASSERT_EQ(curve.size(), 4U) << "16 GPUs are not there";
    const std::vector<int> rising{1, 2, 4, 8};
    double before = 0;
    for (std::size_t i = 0; i < curve.size(); ++i) {
      EXPECT_GE(curve[i].goodput, before);
      EXPECT_LE(curve[i].effective.gpus, rising[i]);
      EXPECT_LE(curve[i].effective.cores, 4 * rising[i]);
      EXPECT_TRUE(curve[i].feasible);
      before = curve[i].goodput;
    }
  }
}

TEST(Predictor, TheLeastResourcesKeepAGuarantee) {
  const std::vector<int> sizes{1, 2, 4, 8};
  const Resources at{.gpu_type = "a100", .gpus = 8, .nodes = 1, .cores = 32, .memory_mib = 1 << 20};
  // Slower beyond two GPUs: two suffice.
  const std::map<int, double> seconds{{1, 0.2}, {2, 0.1}, {4, 0.13}, {8, 0.16}};
  std::vector<MeasuredRow> flat;
  for (const int gpus : sizes) flat.push_back(row(kVision, gpus, 64, seconds.at(gpus)));
  const Predictor p = predictor(flat);
  const JobSpec fixed{.profile = kVision, .batch = Batch{64, 64}};
  const Resources least = p.least(fixed, at, sizes);
  EXPECT_EQ(least.gpus, 2);
  EXPECT_EQ(least.cores, 8);
  EXPECT_GE(p.predict(fixed, least).goodput, p.predict(fixed, at).goodput * 0.97);
  // A job that scales needs its guaranteed GPUs; a better plan may need fewer.
  const Predictor model = predictor(model_rows());
  const Resources of_plan = model.least(model_job(350'000'000), at, sizes, "dp=8");
  EXPECT_LE(of_plan.gpus, 8);
  EXPECT_GE(of_plan.gpus, 1);
  // Without any data, the result is the guarantee itself.
  const JobSpec unknown{.profile = {"lab", "unheard"}};
  EXPECT_EQ(p.least(unknown, at, std::vector<int>{}), at);
}

TEST(Predictor, ServersGoByTheStepTime) {
  std::vector<MeasuredRow> rows;
  for (const int gpus : {1, 2, 4, 8}) {
    MeasuredRow one = row(kServers, gpus, 64, 0.1 + 0.5 / gpus + 0.02 * gpus);
    one.workers = gpus;
    one.servers = std::max(1, gpus / 2);
    one.server_cores = 2;
    rows.push_back(one);
  }
  const Predictor p = predictor(rows);
  const Prediction found =
      p.predict({.profile = kServers}, {.gpu_type = "a100", .gpus = 2, .cores = 8});
  EXPECT_EQ(found.model_kind, ModelKind::kStepTime);
  EXPECT_NEAR(found.throughput, 64 / (0.1 + 0.25 + 0.04), 0.35 * found.throughput);
}

TEST(Predictor, WithoutDataOnlyTheSpeedOfTypesIsKnown) {
  const Predictor nothing(nullptr, nullptr);
  const Prediction found = nothing.predict({.profile = kVision}, {.gpu_type = "a100", .gpus = 2});
  EXPECT_EQ(found.model_kind, ModelKind::kNone);
  EXPECT_FALSE(found.known_profile);
  EXPECT_TRUE(found.feasible);
  const Predictor others = predictor(vision_rows());
  EXPECT_FALSE(others
                   .predict({.profile = {"lab", "new"}, .batch = Batch{1, 64}},
                            {.gpu_type = "a100", .gpus = 2})
                   .known_profile);
}

TEST(Predictor, TheEnvelopeNeverFallsAndUsesNoMore) {
  const Predictor p = predictor(vision_rows());
  const JobSpec job{.profile = kVision, .batch = Batch{32, 128}};
  const std::vector<int> sizes{1, 2, 4, 8, 16};
  double before = 0;
  for (const int gpus : sizes) {
    const Prediction found = p.envelope(job, {.gpu_type = "a100", .gpus = gpus}, sizes);
    EXPECT_GE(found.goodput, before * (1 - 1e-12));
    EXPECT_LE(found.effective.gpus, gpus);
    before = found.goodput;
  }
}

TEST(Predictor, SeveralThreadsGetTheSameAnswers) {
  const Predictor p = predictor(vision_rows());
  const JobSpec job{.profile = kVision, .batch = Batch{32, 128}};
  std::vector<std::vector<double>> answers(4);
  std::vector<std::thread> threads;
  for (auto& mine : answers) {
    threads.emplace_back([&] {
      for (int gpus = 1; gpus <= 32; ++gpus) {
        mine.push_back(p.predict(job, {.gpu_type = "a100", .gpus = gpus}).throughput);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : answers) EXPECT_EQ(mine, answers.front());
}

TEST(Predictor, AReplayGivesTheSameAnswers) {
  std::vector<MeasuredRow> rows = vision_rows();
  rows[0].noise = 12.5;
  rows[1].sync = 0.001;
  const Models models({{"a100", 1.0}}, nullptr, std::make_shared<const StepTimeModels>(rows));
  const std::string text = to_json(fit_of(models));
  const auto read = models_fit_from_json(text);
  ASSERT_TRUE(read) << read.error().text;
  const Models again = models_of(*read);
  EXPECT_EQ(to_json(fit_of(again)), text);
  ASSERT_NE(again.predictor().step_time_models(), nullptr);
  EXPECT_EQ(again.predictor().step_time_models()->rows(),
            models.predictor().step_time_models()->rows());
}

TEST(StepTimeModels, WrongRowsAreLeftOutAndContradictoryOnesMakeNoCurve) {
  std::vector<MeasuredRow> rows = vision_rows();
  const std::size_t good = rows.size();
  rows.push_back(row(kVision, 8, 64, 0.1));
  rows.back().throughput = std::nan("");
  rows.push_back(row(kVision, 8, 64, 0.1));
  rows.back().samples = 0;
  rows.push_back(rows.front());
  const StepTimeModels step_time_models(rows);
  EXPECT_EQ(step_time_models.rows().size(), good);
  for (const CurvePoint& point : step_time_models.curve_points()) {
    EXPECT_EQ(point.profile, kVision);
    EXPECT_TRUE(std::isfinite(point.log_throughput));
    EXPECT_GE(point.stddev, 0);
  }
  EXPECT_FALSE(step_time_models.curve_points().empty());
}

TEST(StepTimeModels, SummariesTellFitAndError) {
  const StepTimeModels step_time_models(vision_rows());
  const auto fits = step_time_models.summaries();
  ASSERT_EQ(fits.size(), 1U);
  EXPECT_EQ(fits[0].model_kind, ModelKind::kDataParallel);
  EXPECT_EQ(fits[0].configurations, 9);
  EXPECT_EQ(fits[0].samples, 180);
  EXPECT_LT(fits[0].mean_error, 0.05);
  EXPECT_EQ(fits[0].parameters.size(), 7U);
}

}  // namespace
}  // namespace rubato
