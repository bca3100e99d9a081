// SPDX-License-Identifier: GPL-2.0-or-later
// Predictions through the common interface: cached and computed.
#include <benchmark/benchmark.h>

#include "lib/model/predictor.h"
#include "lib/model/throughput/learner.h"

namespace rubato {
namespace {

/// `profiles` job types on two GPU types at four sizes and three batches.
std::vector<MeasuredRow> rows(int profiles) {
  std::vector<MeasuredRow> rows;
  for (int profile = 0; profile < profiles; ++profile) {
    for (const char* type : {"a100", "v100"}) {
      for (const int gpus : {1, 2, 4, 8}) {
        for (const std::int64_t batch : {64, 128, 256}) {
          MeasuredRow row;
          row.profile = {"lab", "type" + std::to_string(profile)};
          row.gpu_type = type;
          row.gpus = gpus;
          row.nodes = 1;
          row.batch = batch;
          row.plan = profile % 2 == 1 ? "dp=" + std::to_string(gpus) : "";
          row.cores = 8 * gpus;
          const double seconds = 0.01 * (1 + profile) + 1e-3 * static_cast<double>(batch) / gpus;
          row.throughput = static_cast<double>(batch) / seconds;
          row.samples = 50;
          rows.push_back(std::move(row));
        }
      }
    }
  }
  return rows;
}

Predictor make(int profiles) {
  const std::vector<MeasuredRow> all = rows(profiles);
  std::vector<ThroughputObservation> observations;
  for (const MeasuredRow& row : all) {
    if (row.batch != 128) continue;
    observations.push_back({.profile = row.profile,
                            .gpu_type = row.gpu_type,
                            .gpus = row.gpus,
                            .throughput = row.throughput,
                            .samples = row.samples});
  }
  return {std::make_shared<const ThroughputModel>(TypeSpeeds(), observations),
          std::make_shared<const StepTimeModels>(all)};
}

JobSpec job(ModelKind model_kind, int number = 0) {
  const int profile = model_kind == ModelKind::kPlans ? 1 : 0;
  JobSpec spec{.profile = {"lab", "type" + std::to_string(profile)}};
  // Another lower end is another query.
  if (model_kind == ModelKind::kDataParallel) spec.batch = Batch{64 + number % 1000, 4096};
  if (model_kind == ModelKind::kPlans) {
    spec.shape = ModelShape{350'000'000, 1024, 24, 512, 16};
    spec.plans = Plans{true, {}};
    spec.batch = Batch{256, 256};
  }
  return spec;
}

void cached(benchmark::State& state) {
  const Predictor predictor = make(16);
  const JobSpec spec = job(static_cast<ModelKind>(state.range(0)));
  const Resources at{"a100", 4, 1, 32, 0};
  benchmark::DoNotOptimize(predictor.predict(spec, at));
  for (auto _ : state) benchmark::DoNotOptimize(predictor.predict(spec, at));
  state.SetItemsProcessed(state.iterations());
  state.SetLabel(to_string(static_cast<ModelKind>(state.range(0))));
}

void cold(benchmark::State& state) {
  const auto model_kind = static_cast<ModelKind>(state.range(0));
  const Predictor predictor = make(16);
  benchmark::DoNotOptimize(predictor.predict(job(model_kind), {"a100", 4, 1, 32, 0}));  // the fit
  int number = 0;
  for (auto _ : state) {
    // Memory that no other query had: never cached.
    const Resources at{"a100", 4, 1, 32, ++number};
    benchmark::DoNotOptimize(predictor.predict(job(model_kind, number), at));
  }
  state.SetItemsProcessed(state.iterations());
  state.SetLabel(to_string(model_kind));
}

void first_fit(benchmark::State& state) {
  const auto model_kind = static_cast<ModelKind>(state.range(0));
  const std::vector<MeasuredRow> all = rows(2);
  for (auto _ : state) {
    const StepTimeModels step_time_models(all);
    benchmark::DoNotOptimize(step_time_models.predict(job(model_kind), {"a100", 4, 1, 32, 0}));
  }
  state.SetLabel(to_string(model_kind));
}

void step_time_models(benchmark::internal::Benchmark* bench) {
  for (const ModelKind one :
       {ModelKind::kThroughput, ModelKind::kDataParallel, ModelKind::kPlans}) {
    bench->Arg(static_cast<int>(one));
  }
}

/// Reports of 8 job types in turn, on 24 configurations each.
std::vector<ThroughputReport> reports(std::int64_t count) {
  const std::vector<MeasuredRow> all = rows(8);
  std::vector<ThroughputReport> reports;
  for (std::int64_t i = 0; i < count; ++i) {
    const MeasuredRow& row = all[static_cast<std::size_t>(i * 37) % all.size()];
    ThroughputReport report;
    report.profile = row.profile;
    report.configuration = {row.gpu_type, row.gpus, row.nodes, row.batch, row.plan};
    report.job = {static_cast<JobId>(1 + i), 1};
    report.time = 1'800'000'000 + i;
    report.throughput = row.throughput * (1 + 0.001 * static_cast<double>(i % 17));
    reports.push_back(report);
  }
  return reports;
}

// From the reports to a fit: observations, and the process over them.
void refit_of_samples(benchmark::State& state) {
  const std::vector<ThroughputReport> all = reports(state.range(0));
  for (auto _ : state) {
    Learner learner(LearnerRules{.use = {.warm_up = 0}});
    for (const ThroughputReport& report : all) learner.remember(report);
    benchmark::DoNotOptimize(learner.refit(TypeSpeeds(), true));
    state.counters["cells"] = static_cast<double>(learner.model()->observations().size());
  }
}
BENCHMARK(refit_of_samples)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

std::vector<ThroughputObservation> observations(std::int64_t count) {
  std::vector<ThroughputObservation> observations;
  for (std::int64_t i = 0; i < count; ++i) {
    observations.push_back({.profile = {"lab", "type" + std::to_string(i / 16)},
                            .gpu_type = i % 2 == 0 ? "a100" : "v100",
                            .gpus = 1 << (i / 2 % 8),
                            .throughput = 100 + static_cast<double>(i % 31),
                            .samples = 20});
  }
  return observations;
}

// ThroughputModel::kMaxObservations is the maximum in a site's fit.
void fit_of_observations(benchmark::State& state) {
  const std::vector<ThroughputObservation> all = observations(state.range(0));
  for (auto _ : state) {
    const ThroughputModel model(TypeSpeeds(), all);
    benchmark::DoNotOptimize(model.observations().data());
  }
}
BENCHMARK(fit_of_observations)->Arg(128)->Arg(1024)->Unit(benchmark::kMillisecond);

BENCHMARK(cached)->Apply(step_time_models);
BENCHMARK(cold)->Apply(step_time_models);
BENCHMARK(first_fit)
    ->Arg(static_cast<int>(ModelKind::kDataParallel))
    ->Arg(static_cast<int>(ModelKind::kPlans))
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rubato

BENCHMARK_MAIN();
