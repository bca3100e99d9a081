// SPDX-License-Identifier: GPL-2.0-or-later
// Cost of the parameter-server model, of loss curves, and of following reports.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <vector>

#include "lib/model/progress/convergence.h"
#include "lib/model/progress/predictability.h"
#include "lib/model/step_time/step_time.h"

namespace {

using namespace rubato;

// `n` samples over 96 shapes of GPUs and CPUs, with 5 % noise.
std::vector<StepSample> samples(std::size_t n) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::vector<StepSample> all;
  while (all.size() < n) {
    StepShape s;
    s.workers = 1 + static_cast<int>(random() % 8);
    s.servers = static_cast<int>(random() % 4);
    s.gpus = random() % 3 == 0 ? 0 : s.workers;
    s.worker_cores = static_cast<double>(1 << random() % 4);
    s.server_cores = static_cast<double>(1 << random() % 3);
    s.batch = 32 << random() % 3;
    const double slow = s.gpus > 0 ? 1 : 10 / (1 - std::exp(-s.worker_cores));
    const double seconds = slow * (0.004 * s.batch / s.workers + 0.02) + 0.004 * s.workers +
                           (s.servers > 0 ? 0.07 * s.workers / s.servers : 0.05);
    all.push_back({s, seconds * std::exp(0.05 * normal(random))});
  }
  return all;
}

void refit(benchmark::State& state) {
  const auto all = samples(static_cast<std::size_t>(state.range(0)));
  for (auto unused : state) benchmark::DoNotOptimize(StepTimeModel(all));
}
BENCHMARK(refit)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

void predict(benchmark::State& state) {
  const StepTimeModel model(samples(100));
  StepShape shape{2, 4, 4, 4, 2, 128};
  for (auto unused : state) {
    shape.workers = 1 + shape.workers % 16;
    benchmark::DoNotOptimize(model.predict(shape));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(predict);

void fit_a_loss_curve(benchmark::State& state) {
  std::vector<LossPoint> points;
  for (int i = 1; i <= static_cast<int>(kMaxLossPoints); ++i)
    points.push_back({1000.0 * i, 1 / (0.1 * i + 0.3) + 0.8 + 0.001 * (i % 3), 1});
  for (auto unused : state) benchmark::DoNotOptimize(fit_loss(points, 0.95));
}
BENCHMARK(fit_a_loss_curve)->Unit(benchmark::kMicrosecond);

void follow_a_report(benchmark::State& state) {
  ProgressHistory progress_history;
  ProgressReport report{.time = 1000, .throughput = 100, .batch = 10, .gpus = 1, .start = 990};
  const Work work{.unit = WorkUnit::kSamples, .count = 1'000'000'000'000};
  for (auto unused : state) {
    report.time += 10;
    report.samples += 1000;
    follow(progress_history, report, work);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(follow_a_report);

}  // namespace

BENCHMARK_MAIN();
