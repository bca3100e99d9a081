// SPDX-License-Identifier: GPL-2.0-or-later
// Simulated jobs per second, under first-in-first-out and under Rubato's round, as in `rubato
// simulate`.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

#include "lib/sim/engine/noise.h"
#include "lib/sim/engine/suite.h"

namespace rubato::sim {
namespace {

constexpr double kLoad = 0.9;      ///< of the cluster's GPUs
constexpr double kMeanRun = 3600;  ///< s of a job on its GPUs, mean
constexpr int kJobsOfGpu = 6;      ///< jobs per GPU of the cluster

/// Two types, the second twice as fast; speed grows with the 0.9th power of the GPUs.
class BenchTruth final : public Truth {
 public:
  [[nodiscard]] double throughput(const SimJob& /*job*/, const Setting& setting,
                                  double /*done*/) const override {
    if (!setting.type.valid()) return 0;
    return std::pow(setting.gpus(), 0.9) * (1 + setting.type.value());
  }
};

/// Jobs of 1 to 8 GPUs with exponential gaps on nodes of 8.
Suite make(int gpus) {
  Suite suite;
  suite.name = "bench";
  const std::string nodes = std::to_string(gpus / 16);
  suite.cluster = parse_cluster_shape("a:" + nodes + "x8,b:" + nodes + "x8").value();
  suite.truth = std::make_shared<BenchTruth>();
  const int jobs = kJobsOfGpu * gpus;
  double time = 0;
  for (int i = 0; i < jobs; ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    SimJob job;
    job.key = "job" + std::to_string(i);
    job.model = "kind" + std::to_string(i % 20);
    job.gpus = job.min_gpus = job.max_gpus = 1 << static_cast<int>(4 * uniform_noise(1, 1, number));
    const double seconds = -kMeanRun * std::log1p(-uniform_noise(1, 2, number));
    job.work = std::max(60.0, seconds) * std::pow(job.gpus, 0.9) * 1.5;
    job.arrival = time;
    time += -std::log1p(-uniform_noise(1, 3, number)) * 3.75 * kMeanRun / (kLoad * gpus);
    suite.jobs.push_back(std::move(job));
  }
  return suite;
}

void play(benchmark::State& state, const char* policy) {
  const Suite suite = make(static_cast<int>(state.range(0)));
  double rounds = 0;
  for (auto _ : state) {
    const auto record = run_suite(suite, policy, Information::kLearned, {});
    if (!record || record->cut) std::abort();
    rounds = static_cast<double>(record->round_ms.size());
  }
  const auto jobs = static_cast<double>(suite.jobs.size());
  state.counters["jobs/s"] =
      benchmark::Counter(jobs, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["jobs"] = jobs;
  state.counters["rounds"] = rounds;
}

void fifo(benchmark::State& state) { play(state, "fifo"); }
void rubato_round(benchmark::State& state) { play(state, "rubato-place"); }
BENCHMARK(fifo)->Arg(64)->Arg(512)->Unit(benchmark::kMillisecond);
BENCHMARK(rubato_round)->Arg(64)->Arg(512)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rubato::sim

BENCHMARK_MAIN();
