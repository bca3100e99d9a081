// SPDX-License-Identifier: GPL-2.0-or-later
// Execution plans: forecasts per second, cached and computed, and the cost of a refit.
#include <benchmark/benchmark.h>

#include "lib/model/plans/plan_curve.h"

namespace rubato {
namespace {

constexpr ModelShape kShape{
    .params = 1'300'000'000, .hidden = 2048, .layers = 24, .seq = 1024, .heads = 16};

// This many samples, of up to 120 settings.
std::vector<PlanSample> samples(std::int64_t count) {
  std::vector<PlanSample> out;
  for (std::int64_t i = 0; i < count; ++i) {
    const int n = 1 << (i % 4);
    PlanSample s{.plan = {.data = n,
                          .zero = static_cast<Zero>(i / 4 % 3),
                          .steps = 1 << (i / 12 % 5),
                          .checkpointing = i / 60 % 2 == 1},
                 .configuration = {n, 1, 4},
                 .batch = 64};
    s.step_seconds = (0.2 + 3.0 / n) * (1 + 0.1 * static_cast<double>(i / 4 % 3)) *
                     (s.plan.checkpointing ? 1.3 : 1) * (1 + 0.001 * static_cast<double>(i % 7));
    out.push_back(s);
  }
  return out;
}

void refit(benchmark::State& state) {
  const std::vector<PlanSample> of = samples(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(fit_plans(kShape, of));
}
BENCHMARK(refit)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

const std::shared_ptr<const PlanModel>& model() {
  static const auto kModel = std::make_shared<const PlanModel>(kShape, samples(100));
  return kModel;
}

void forecast_of_a_plan(benchmark::State& state) {
  const PlanQuery query{.configuration = {8, 1, 4}, .batch = 64};
  for (auto _ : state) benchmark::DoNotOptimize(model()->of_plan(query, {.data = 8}));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(forecast_of_a_plan);

void best_plan_cold(benchmark::State& state) {
  const int gpus = static_cast<int>(state.range(0));
  const PlanQuery query{.configuration = {gpus, gpus > 8 ? gpus / 8 : 1, 4},
                        .gpu_memory_mib = 81920,
                        .host_memory_mib = 1 << 20,
                        .batch = 512};
  for (auto _ : state) benchmark::DoNotOptimize(model()->best(query));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(best_plan_cold)->Arg(1)->Arg(8)->Arg(64);

const CurveQuestion kQuestion{
    .batch = 512, .gpu_memory_mib = 81920, .host_memory_mib_per_gpu = 131072};

void curve_cold(benchmark::State& state) {
  const int gpus = static_cast<int>(state.range(0));
  for (auto _ : state) {
    const PlanCurve curve(model(), kQuestion);
    benchmark::DoNotOptimize(curve.at({gpus, gpus > 8 ? gpus / 8 : 1, 8}));
  }
}
BENCHMARK(curve_cold)->Arg(8)->Arg(64)->Unit(benchmark::kMillisecond);

void curve_cached(benchmark::State& state) {
  const PlanCurve curve(model(), kQuestion);
  (void)curve.at({64, 8, 8});
  for (auto _ : state) benchmark::DoNotOptimize(curve.at({64, 8, 8}));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(curve_cached);

}  // namespace
}  // namespace rubato

BENCHMARK_MAIN();
