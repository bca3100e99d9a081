// SPDX-License-Identifier: GPL-2.0-or-later
// The market alone: ranks, prices, filling and search, on drawn jobs of three GPU types.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "lib/policy/market/allocation.h"
#include "lib/policy/market/prices.h"
#include "lib/policy/market/rank_value.h"

namespace rubato {
namespace {

constexpr int kTypes = 3;

/// Sizes of 1 to 32 GPUs on each type, speeds that grow as a power of the size, and no two equal
/// jobs. The work is log-normal over two decades.
Market draw_market(int gpus, int jobs) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> share(0, 1);
  std::lognormal_distribution<double> work(8, 1.5);
  std::vector<RankedJob> ranked;
  Market market{std::vector<int>(kTypes, gpus / kTypes), {}};
  for (int i = 0; i < jobs; ++i) {
    const double seconds = work(random);
    const double power = .5 + .45 * share(random);
    MarketJob job;
    for (int type = 0; type < kTypes; ++type) {
      const double speed = 1 + 3 * share(random);
      for (int size = 1; size <= 32; size *= 2)
        job.rows.push_back({type, size, speed * std::pow(size, power) / seconds});
    }
    ranked.push_back({3600 * share(random), seconds / std::pow(32, power) / 4, seconds / 4});
    market.jobs.push_back(job);
  }
  const std::vector<double> values = rank_values(ranked);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (MarketRow& row : market.jobs[i].rows) row.value *= values[i];
  }
  return market;
}

void allocate_all(benchmark::State& state) {
  const Market market =
      draw_market(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  for (auto unused : state) benchmark::DoNotOptimize(allocate(market));
}
BENCHMARK(allocate_all)
    ->ArgNames({"gpus", "jobs"})
    ->Args({64, 160})
    ->Args({512, 1000})
    ->Args({4096, 10000})
    ->Unit(benchmark::kMillisecond);

void prices_alone(benchmark::State& state) {
  const Market market =
      draw_market(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  for (auto unused : state) benchmark::DoNotOptimize(market_prices(market));
}
BENCHMARK(prices_alone)
    ->ArgNames({"gpus", "jobs"})
    ->Args({64, 160})
    ->Args({512, 1000})
    ->Args({4096, 10000})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rubato

BENCHMARK_MAIN();
