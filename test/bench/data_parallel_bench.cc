// SPDX-License-Identifier: GPL-2.0-or-later
// Cost of forecasts and fits of the data-parallel model.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "lib/model/data_parallel/best_batch.h"
#include "lib/model/data_parallel/data_parallel.h"

namespace rubato {
namespace {

// A job measured at this many configurations.
std::vector<DataParallelSample> samples(int count) {
  std::vector<DataParallelSample> out;
  for (int i = 0; i < count; ++i) {
    const int nodes = 1 + i % 4;
    const DataParallelConfiguration at{8.0 + (i * 37) % 500, nodes * (1 + (i / 4) % 8), nodes};
    const double pass = 0.02 + 0.001 * at.local_batch;
    const double sync = at.gpus > 1 ? 0.01 * nodes + 0.001 * at.gpus : 0;
    out.push_back({at, pass + sync + 0.002 * std::sin(i), {}});
  }
  return out;
}

void predict(benchmark::State& state) {
  const DataParallelModel model(samples(static_cast<int>(state.range(0))));
  int i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(model.step({8.0 + i % 400, 4 + i % 13, 1 + i % 4}));
    ++i;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(predict)->Arg(10)->Arg(100);

void predict_mean(benchmark::State& state) {
  const DataParallelModel model(samples(static_cast<int>(state.range(0))));
  int i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(model.iteration_seconds({8.0 + i % 400, 4 + i % 13, 1 + i % 4}, 1));
    ++i;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(predict_mean)->Arg(10)->Arg(100);

void refit(benchmark::State& state) {
  const auto measured = samples(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(DataParallelModel(measured).error());
}
BENCHMARK(refit)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

void choose_next(benchmark::State& state) {
  const DataParallelModel model(samples(5));
  std::vector<DataParallelConfiguration> configurations;
  for (const DataParallelSample& s : samples(static_cast<int>(state.range(0)))) {
    configurations.push_back(s.at);
  }
  const std::vector<bool> taken(configurations.size());
  for (auto _ : state) benchmark::DoNotOptimize(model.most_informative_row(configurations, taken));
}
BENCHMARK(choose_next)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

void batch(benchmark::State& state) {
  const DataParallelModel model(samples(10));
  const IterationSeconds seconds = [&](double local_batch, int passes) {
    return model.iteration_seconds({local_batch, 8, 2}, passes);
  };
  for (auto _ : state) {
    benchmark::DoNotOptimize(best_batch({.least = 64, .most = 8192}, 8, seconds));
  }
}
BENCHMARK(batch);

}  // namespace
}  // namespace rubato

BENCHMARK_MAIN();
