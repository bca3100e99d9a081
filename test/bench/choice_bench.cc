// SPDX-License-Identifier: GPL-2.0-or-later
// One configuration per job, as in Sia's round: branch and bound on random problems.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>

#include "lib/sim/solver/assignment_dual.h"
#include "lib/sim/solver/branch_bound.h"
#include "test/support/drawn_assignment.h"

namespace rubato::sim {
namespace {

constexpr std::uint64_t kDrawn = 20;

/// Arguments: GPUs, jobs, whether half of the jobs are alike. Reports the mean over random
/// problems, and the maximum number of states.
void branch(benchmark::State& state) {
  std::vector<AssignmentProblem> choices;
  for (std::uint64_t seed = 0; seed < kDrawn; ++seed) {
    choices.push_back(test::drawn_choice(seed, static_cast<int>(state.range(0)),
                                         static_cast<int>(state.range(1)), state.range(2) != 0));
  }
  std::size_t next = 0;
  std::int64_t most = 0;
  for (auto _ : state) {
    const auto found = branch_and_bound(choices[next]);
    if (!found) std::abort();
    most = std::max(most, found->states);
    next = (next + 1) % choices.size();
  }
  state.counters["states"] = static_cast<double>(most);
}

/// The same as `branch`, only for the prices.
void prices(benchmark::State& state) {
  const AssignmentProblem choice = test::drawn_choice(1, static_cast<int>(state.range(0)),
                                                      static_cast<int>(state.range(1)), false);
  const auto rows = candidates_of(choice);
  for (auto _ : state) benchmark::DoNotOptimize(best_prices(rows, choice.gpus));
}

BENCHMARK(branch)
    ->Args({64, 40, 0})
    ->Args({64, 80, 0})
    ->Args({64, 160, 1})
    ->Args({128, 80, 0})
    ->Args({256, 320, 0})
    ->Args({512, 320, 0})
    ->Args({512, 320, 1})
    ->Args({512, 640, 0})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(prices)->Args({64, 80})->Args({512, 320})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rubato::sim

BENCHMARK_MAIN();
