// SPDX-License-Identifier: GPL-2.0-or-later
// Cost of a round and of writing a snapshot. Measures the second round, which has the memory of the
// first.
#include <benchmark/benchmark.h>

#include "lib/json/json.h"
#include "lib/policy/round.h"
#include "test/support/big_snapshot.h"

namespace rubato::test {
namespace {

BigCluster cluster_of(const benchmark::State& state) {
  BigCluster size;
  size.nodes = static_cast<int>(state.range(0));
  size.pending = static_cast<int>(state.range(1));
  size.running = static_cast<int>(state.range(2));
  size.all_different = state.range(3) != 0;
  return size;
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"nodes", "pending", "running", "all_different"});
  bench->Args({8, 30, 10, 0});
  bench->Args({256, 2000, 300, 0});
  bench->Args({256, 2000, 300, 1});
  bench->Args({5000, 14000, 6000, 0});
  bench->Unit(benchmark::kMillisecond);
}

// The first round starts jobs that fit; the measured rounds see the cluster after that.
Snapshot second(const BigCluster& size, const Config& config) {
  Snapshot snapshot = big_snapshot(size);
  const Plan plan = round(snapshot, Models(), config, kNow);
  for (const Start& start : plan.starts) {
    if (start.shares.empty()) continue;
    const auto job = std::find_if(snapshot.jobs.begin(), snapshot.jobs.end(), [&](const Job& j) {
      return j.key == start.job && j.state == JobState::kPending;
    });
    Job running = *job;
    snapshot.jobs.erase(job);
    running.state = JobState::kRunning;
    running.start = kNow;
    running.end_limit = kNow + running.time_limit;
    running.allocation = start.shares;
    for (const NodeShare& share : start.shares) occupy(snapshot, share);
    snapshot.jobs.push_back(std::move(running));
  }
  std::sort(snapshot.jobs.begin(), snapshot.jobs.end(), [](const Job& a, const Job& b) {
    const auto key = [](const Job& j) { return std::tuple(j.state, j.rank, j.key); };
    return key(a) < key(b);
  });
  snapshot.memory = plan.memory;
  return snapshot;
}

void first_round(benchmark::State& state) {
  const Config config;
  const Snapshot snapshot = big_snapshot(cluster_of(state));
  std::size_t starts = 0;
  for (auto _ : state) starts = round(snapshot, Models(), config, kNow).starts.size();
  state.counters["starts"] = static_cast<double>(starts);
}
BENCHMARK(first_round)->Apply(sizes);

void later_round(benchmark::State& state) {
  const Config config;
  const Snapshot snapshot = second(cluster_of(state), config);
  std::size_t starts = 0;
  for (auto _ : state) starts = round(snapshot, Models(), config, kNow + 1).starts.size();
  state.counters["starts"] = static_cast<double>(starts);
}
BENCHMARK(later_round)->Apply(sizes);

constexpr int kJobTypes = 40;

std::string type_name(int number) { return "type-" + std::to_string(number); }

// Measurements of a cluster that has run for a while.
Models learnt() {
  const std::map<std::string, double> speeds = {{"a100", 2.0}, {"h100", 4.0}, {"v100", 1.0}};
  std::vector<ThroughputObservation> observations;
  for (int i = 0; i < kJobTypes; ++i) {
    double throughput = 100 + 13 * i;
    for (const auto& [type, speed] : speeds) {
      for (const int gpus : {1, 4}) {
        throughput = throughput * 1.7 > 1000 ? throughput / 7 : throughput * 1.7;
        observations.push_back({{"lab", type_name(i)}, type, gpus, throughput * speed * gpus, 20});
      }
    }
  }
  return Models(speeds, std::make_shared<const ThroughputModel>(TypeSpeeds(speeds), observations));
}

// Every job has a job type and a work hint, half of them several sizes.
void learnt_round(benchmark::State& state) {
  const Config config;
  Snapshot snapshot = second(cluster_of(state), config);
  int number = 0;
  for (Job& job : snapshot.jobs) {
    if (!job.managed) continue;
    job.hints.emplace();
    job.hints->job_type = type_name(++number % kJobTypes);
    job.hints->work = Work{WorkUnit::kSamples, 100'000 + 1'000 * number, 0};
    if (number % 2 == 0 && job.request.gpus > 0) job.hints->sizes = GpuSizes({{1, 8}});
  }
  const Models models = learnt();
  std::size_t starts = 0;
  for (auto _ : state) starts = round(snapshot, models, config, kNow + 1).starts.size();
  state.counters["starts"] = static_cast<double>(starts);
}
BENCHMARK(learnt_round)->Apply(sizes);

void write_snapshot(benchmark::State& state) {
  const Snapshot snapshot = second(cluster_of(state), Config());
  std::size_t bytes = 0;
  for (auto _ : state) bytes = to_json(snapshot).size();
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(write_snapshot)->Apply(sizes);

void read_snapshot(benchmark::State& state) {
  const std::string text = to_json(second(cluster_of(state), Config()));
  for (auto _ : state) benchmark::DoNotOptimize(snapshot_from_json(text));
}
BENCHMARK(read_snapshot)->Apply(sizes);

void write_plan(benchmark::State& state) {
  const Config config;
  const Snapshot snapshot = second(cluster_of(state), config);
  const Plan plan = round(snapshot, Models(), config, kNow + 1);
  std::size_t bytes = 0;
  for (auto _ : state) bytes = to_json(plan, snapshot).size();
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(write_plan)->Apply(sizes);

}  // namespace
}  // namespace rubato::test

BENCHMARK_MAIN();
