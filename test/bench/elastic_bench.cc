// SPDX-License-Identifier: GPL-2.0-or-later
// One round of mode elastic on a loaded cluster. The snapshot comes from a simulation: so many jobs
// arrive at once, further ones as jobs end, and the round is the last of those played.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "lib/model/models.h"
#include "lib/policy/round.h"
#include "lib/sim/engine/noise.h"
#include "lib/sim/engine/suite.h"

namespace rubato::sim {
namespace {

constexpr int kTypes = 3;
constexpr int kModels = 20;
constexpr double kMeanRun = 3600;  ///< s of a job on its GPUs, mean
constexpr int kRounds = 12;
constexpr double kPower = 0.85;  ///< of the GPUs, by which speed grows

double speed_of(int model, int type) { return 1 + type * (0.3 + 0.05 * model); }

class BenchTruth final : public Truth {
 public:
  [[nodiscard]] double throughput(const SimJob& job, const Setting& setting,
                                  double /*done*/) const override {
    if (!setting.type.valid()) return 0;
    const int model = std::atoi(job.model.c_str() + 4);
    return std::pow(setting.gpus(), kPower) * speed_of(model, setting.type.value());
  }
};

// Jobs of 1 to 8 GPUs, each at a quarter to four times of them, on nodes of 8.
Suite make(int gpus, int present, bool all_different) {
  Suite suite;
  suite.name = "bench";
  const std::string nodes = std::to_string(std::max(1, gpus / 8 / kTypes));
  suite.cluster =
      parse_cluster_shape("a:" + nodes + "x8,b:" + nodes + "x8,c:" + nodes + "x8").value();
  suite.truth = std::make_shared<BenchTruth>();
  double time = 0;
  for (int i = 0; i < present + 10 * kRounds; ++i) {
    const auto number = static_cast<std::uint64_t>(all_different ? i : i % 50);
    SimJob job;
    job.key = "job" + std::to_string(i);
    job.model = "kind" + std::to_string(10 + i % kModels);
    job.gpus = 1 << static_cast<int>(4 * uniform_noise(1, 1, number));
    job.min_gpus = std::max(1, job.gpus / 4);
    job.max_gpus = 4 * job.gpus;
    const double seconds = -kMeanRun * std::log1p(-uniform_noise(1, 2, number));
    job.work = std::max(60.0, seconds) * std::pow(job.gpus, kPower);
    job.restart_s = job.start_s = 30;
    if (i >= present) time += kMeanRun / gpus;
    job.arrival = time;
    suite.jobs.push_back(std::move(job));
  }
  return suite;
}

// What a site measured of each job type at two sizes on each GPU type. Types and models have the
// names that the policy gives them.
Models learnt() {
  std::map<std::string, double> speeds;
  std::vector<ThroughputObservation> observations;
  for (int type = 0; type < kTypes; ++type) {
    const std::string name = "t000" + std::to_string(type);
    speeds[name] = 1 + type;
    for (int model = 0; model < kModels; ++model) {
      const std::string kind = (model < 10 ? "m000" : "m00") + std::to_string(model);
      for (const int gpus : {1, 4})
        observations.push_back(
            {{"users", kind}, name, gpus, std::pow(gpus, kPower) * speed_of(model + 10, type), 20});
    }
  }
  return Models(speeds, std::make_shared<const ThroughputModel>(TypeSpeeds(speeds), observations));
}

// Jobs that differ in more than key, times and order.
std::size_t kinds_in(const Snapshot& snapshot) {
  std::set<std::tuple<std::string, int, std::int64_t>> kinds;
  for (const Job& job : snapshot.jobs)
    kinds.emplace(job.hints ? job.hints->job_type : "", job.request.gpus,
                  job.hints && job.hints->work ? job.hints->work->count : 0);
  return kinds.size();
}

Snapshot loaded(int gpus, int jobs, bool all_different) {
  Snapshot last;
  int rounds = 0;
  std::atomic<bool> stop = false;
  RunControl control;
  control.stop = &stop;
  control.watch = [&](const Snapshot& seen) {
    last = seen;
    if (++rounds >= kRounds) stop = true;
  };
  if (!run_suite(make(gpus, jobs, all_different), kRubato, Information::kKnown, control))
    std::abort();
  return last;
}

void elastic_round(benchmark::State& state) {
  const Snapshot snapshot = loaded(static_cast<int>(state.range(0)),
                                   static_cast<int>(state.range(1)), state.range(2) != 0);
  Config config;
  config.mode = Mode::kElastic;
  config.manage_all = true;
  const Models models = learnt();
  std::size_t changes = 0;
  for (auto _ : state) changes = round(snapshot, models, config, snapshot.taken).changes.size();
  state.counters["jobs"] = static_cast<double>(snapshot.jobs.size());
  state.counters["kinds"] = static_cast<double>(kinds_in(snapshot));
  state.counters["nodes"] = static_cast<double>(snapshot.nodes.size());
  state.counters["changes"] = static_cast<double>(changes);
}
BENCHMARK(elastic_round)
    ->ArgNames({"gpus", "jobs", "all_different"})
    ->Args({64, 160, 0})
    ->Args({64, 160, 1})
    ->Args({512, 1000, 0})
    ->Args({512, 1000, 1})
    ->Args({4096, 10000, 0})
    ->Args({4096, 10000, 1})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rubato::sim

BENCHMARK_MAIN();
