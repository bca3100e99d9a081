// SPDX-License-Identifier: GPL-2.0-or-later
// Ingest of samples, on the file system of RUBATO_BENCH_DIR (default /var/tmp).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "lib/store/store.h"
#include "lib/store/summary.h"

namespace {

using namespace rubato;
using Steady = std::chrono::steady_clock;

constexpr Seconds kStart = 1767225600;

class FixedClock : public Clock {
 public:
  [[nodiscard]] Seconds now() const override { return kStart; }
};

/// Report `index` of 200 jobs of 20 types in 5 accounts that report in turn.
store::Sample report(std::int64_t index) {
  const std::int64_t job = index % 200;
  const std::int64_t turn = index / 200;
  store::Sample sample;
  sample.job = {static_cast<JobId>(job + 1), kStart};
  sample.time = kStart + turn * 60;
  sample.type = {"account" + std::to_string(job % 5), "type" + std::to_string(job % 20), false};
  sample.gpu_type = job % 2 == 0 ? "a100" : "v100";
  sample.gpus = 1 << (job % 4);
  sample.nodes = 1;
  sample.batch = 256;
  sample.samples_done = turn * 6000;
  sample.throughput = 100;
  sample.loss = 2.5;
  sample.iteration_time = 2.56;
  return sample;
}

std::string new_folder() {
  const char* where = std::getenv("RUBATO_BENCH_DIR");
  std::string folder = std::string(where != nullptr ? where : "/var/tmp") + "/store-bench-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) std::abort();
  return folder;
}

/// `range(0)` samples, from the first push to the last commit; nothing is dropped. range(1): WAL or
/// rollback journal.
void ingest(benchmark::State& state) {
  double longest_push = 0;
  double batches = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const std::string folder = new_folder();
    store::StoreOptions options;
    options.folder = folder + "/rubato";
    options.local = state.range(1) != 0;
    options.queue_capacity = static_cast<std::size_t>(state.range(0));
    store::Store store(options, std::make_shared<FixedClock>());
    while (store.stats().state == store::StoreState::kStarting) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    state.ResumeTiming();
    for (std::int64_t i = 0; i < state.range(0); ++i) {
      const auto begin = Steady::now();
      store.push(report(i));
      const double took = std::chrono::duration<double>(Steady::now() - begin).count();
      longest_push = std::max(longest_push, took);
    }
    if (!store.flush(std::chrono::seconds(60))) state.SkipWithError("flush took over 60 s");
    state.PauseTiming();
    const store::StoreStats stats = store.stats();
    if (stats.written != state.range(0) || stats.dropped != 0) state.SkipWithError("lost samples");
    if (stats.flagged != 0) state.SkipWithError("flagged samples");
    batches = static_cast<double>(stats.batches);
    store.stop(std::chrono::seconds(60));
    std::filesystem::remove_all(folder);
    state.ResumeTiming();
  }
  state.counters["samples/s"] = benchmark::Counter(
      static_cast<double>(state.range(0) * state.iterations()), benchmark::Counter::kIsRate);
  state.counters["transactions"] = batches;
  state.counters["longest_push_us"] = longest_push * 1e6;
}
BENCHMARK(ingest)
    ->ArgNames({"samples", "wal"})
    ->Args({10000, 1})
    ->Args({10000, 0})
    ->Args({100000, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// One push as in the scheduler, while the writer works; none is dropped.
constexpr std::int64_t kPushes = 16000;
void push(benchmark::State& state) {
  const std::string folder = new_folder();
  store::StoreOptions options;
  options.folder = folder + "/rubato";
  store::Store store(options, std::make_shared<FixedClock>());
  const store::Sample sample = report(0);
  for (auto _ : state) benchmark::DoNotOptimize(store.push(sample));
  if (store.stats().dropped != 0) state.SkipWithError("dropped samples");
  store.stop(std::chrono::seconds(60));
  std::filesystem::remove_all(folder);
}
BENCHMARK(push)->Iterations(kPushes);

/// A big store: 100 kinds, each with the maximum number of samples under retention.
class FullStore {
 public:
  static constexpr std::int64_t kKinds = 100;
  static constexpr std::int64_t kSamples = 200'000;

  FullStore() : folder_(new_folder()) {
    store::StoreOptions options;
    options.folder = folder_ + "/rubato";
    options.queue_capacity = 200'000;
    options.retention.after = 10 * kSamples;  // no retention meanwhile
    store_ = std::make_unique<store::Store>(options, std::make_shared<FixedClock>());
    for (std::int64_t i = 0; i < kSamples; ++i) {
      if (i % 100'000 == 0 && !store_->flush(std::chrono::seconds(120))) std::abort();
      add(i);
    }
    if (!store_->flush(std::chrono::seconds(120))) std::abort();
  }
  ~FullStore() {
    store_->stop(std::chrono::seconds(60));
    std::filesystem::remove_all(folder_);
  }
  FullStore(const FullStore&) = delete;
  FullStore& operator=(const FullStore&) = delete;

  [[nodiscard]] std::string database() const { return folder_ + "/rubato/rubato.db"; }
  void add_one() {
    add(next_++);
    if (!store_->flush(std::chrono::seconds(60))) std::abort();
  }

 private:
  void add(std::int64_t index) {
    store::Sample sample = report(0);
    const std::int64_t kind = index % kKinds;
    sample.job = {static_cast<JobId>(kind + 1), kStart};
    sample.type.name = "type" + std::to_string(kind);
    sample.time = kStart + index / kKinds * 60;
    sample.samples_done = index / kKinds * 6000;
    store_->push(std::move(sample));
  }

  std::string folder_;
  std::unique_ptr<store::Store> store_;
  std::int64_t next_ = kSamples;
};

/// Cost of models.json: all of a full store (range 0), or one new sample since the last time (1).
void summary(benchmark::State& state) {
  static FullStore full;
  store::Summary summary(full.database());
  const bool one = state.range(0) != 0;
  if (!summary.refresh({})) state.SkipWithError("cannot be read");
  for (auto _ : state) {
    state.PauseTiming();
    if (one) full.add_one();
    state.ResumeTiming();
    const auto fresh = summary.refresh({}, !one);
    if (!fresh || !*fresh) state.SkipWithError("nothing new");
  }
  state.counters["rows"] = static_cast<double>(summary.rows().size());
}
BENCHMARK(summary)
    ->ArgName("one_new")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);

}  // namespace

BENCHMARK_MAIN();
