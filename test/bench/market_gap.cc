// SPDX-License-Identifier: GPL-2.0-or-later
// How much of the best sum of values the market loses on small markets, step by step, against an
// enumeration of all rows. usage: market_gap [worst], which also prints the markets that lose most.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "lib/policy/market/allocation.h"
#include "lib/policy/market/prices.h"
#include "test/support/small_market.h"

namespace rubato::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kExact = 1e-9;  // of the best sum; sums of other orders differ by rounding
constexpr std::size_t kSteps = 6;
constexpr std::array<const char*, kSteps> kStepNames{"prices",
                                                     "and filling",
                                                     "and search, 1 pass",
                                                     "and search, 2 passes",
                                                     "held rows alone",
                                                     "all: the better of both"};

/// The share of the best sum that a step loses, over markets.
struct Lost {
  double sum = 0;
  double worst = 0;
  std::uint64_t worst_seed = 0;
  int exact = 0;

  void add(double lost, std::uint64_t seed) {
    sum += lost;
    exact += lost < kExact ? 1 : 0;
    if (lost <= worst) return;
    worst = lost;
    worst_seed = seed;
  }
};

// The most that the jobs from `job` on gain if at most `changes` of them change their row.
double best_gain(const Market& market, const std::vector<int>& rows, std::size_t job, int changes,
                 std::vector<int>& free) {
  if (job == rows.size()) return 0;
  const MarketJob& one = market.jobs[job];
  double best = -std::numeric_limits<double>::infinity();
  for (int row = kNoRow; row < static_cast<int>(one.rows.size()); ++row) {
    const int left = changes - (row == rows[job] ? 0 : 1);
    if (left < 0) continue;
    const double gain = value_of(one, row) - value_of(one, rows[job]);
    if (row == kNoRow) {
      best = std::max(best, gain + best_gain(market, rows, job + 1, left, free));
      continue;
    }
    const MarketRow& taken = one.rows[static_cast<std::size_t>(row)];
    int& gpus = free[static_cast<std::size_t>(taken.pool)];
    if (taken.gpus > gpus) continue;
    gpus -= taken.gpus;
    best = std::max(best, gain + best_gain(market, rows, job + 1, left, free));
    gpus += taken.gpus;
  }
  return best;
}

// The least number of jobs that must change together for a higher sum; 0 if there is none.
int changes_to_gain(const Market& market, const std::vector<int>& rows) {
  std::vector<int> free = market.gpus;
  const double least = kExact * sum_of_values(market, rows);
  for (int changes = 1; changes <= static_cast<int>(rows.size()); ++changes) {
    if (best_gain(market, rows, 0, changes, free) > least) return changes;
  }
  return 0;
}

struct Case {
  const char* name;
  MarketShape shape;
  int markets;
};

std::vector<int> rows_bought(const Market& market, const std::vector<double>& prices) {
  std::vector<int> rows;
  for (const MarketJob& job : market.jobs) rows.push_back(bought(job, prices));
  return rows;
}

// By step, in the order of kStepNames.
std::array<double, kSteps> sums(const Market& market) {
  const std::vector<double> prices = market_prices(market);
  const std::vector<int> rows = rows_bought(market, prices);
  std::vector<int> held;
  for (const MarketJob& job : market.jobs) held.push_back(job.stays);
  const auto sum = [&](const std::vector<int>& from, int passes) {
    return sum_of_values(market, improve(market, prices, from, passes));
  };
  return {sum_of_values(market, rows),
          sum(rows, 0),
          sum(rows, 1),
          sum(rows, 2),
          sum(held, 2),
          sum_of_values(market, allocate(market).row)};
}

// Mean seconds of a call, of as many as a fifth of a millisecond holds.
template <class Call>
double seconds_of(const Call& call) {
  const auto begin = Clock::now();
  int calls = 0;
  double seconds = 0;
  double keep = 0;
  while (seconds < 2e-4) {
    keep += call();
    ++calls;
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  return keep < 0 ? 0 : seconds / calls;  // the sum is used, so no call is left out
}

// Where enumeration takes too long: what can be lost at most.
void measure_bound(const Case& one) {
  double lost = 0;
  double worst = 0;
  for (int seed = 1; seed <= one.markets; ++seed) {
    const Market market = SmallMarket(static_cast<std::uint64_t>(seed), one.shape).draw();
    const double share =
        1 - sum_of_values(market, allocate(market).row) / bound_by(market, market_prices(market));
    lost += share;
    worst = std::max(worst, share);
  }
  fmt::print("{}: {} markets, up to {} pools of {} GPUs, up to {} jobs\n", one.name, one.markets,
             one.shape.pools, one.shape.gpus, one.shape.jobs);
  fmt::print("  at most lost, mean {:.3f} %, worst {:.2f} %\n", 100 * lost / one.markets,
             100 * worst);
}

void print_market(const Market& market) {
  const Allocation got = allocate(market);
  fmt::print("    GPUs {}, prices {:.1f}\n", fmt::join(market.gpus, " "),
             fmt::join(got.price, " "));
  for (std::size_t i = 0; i < market.jobs.size(); ++i) {
    std::string rows;
    for (const MarketRow& row : market.jobs[i].rows)
      rows += fmt::format(" {}x{}={:.1f}", row.pool, row.gpus, row.value);
    fmt::print("    job {} holds {} gets {}:{}\n", i, market.jobs[i].stays, got.row[i], rows);
  }
}

void measure(const Case& one, bool print_worst) {
  std::array<Lost, kSteps> lost;
  double enumeration = 0;
  double market_time = 0;
  std::map<int, int> changes;  // losing markets by jobs that must change
  for (int seed = 1; seed <= one.markets; ++seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    const Market market = SmallMarket(number, one.shape).draw();
    const double best = best_sum(market);
    enumeration += seconds_of([&] { return best_sum(market); });
    market_time += seconds_of([&] { return allocate(market).price[0]; });
    const auto reached = sums(market);
    if (reached[kSteps - 1] < best * (1 - kExact))
      ++changes[changes_to_gain(market, allocate(market).row)];
    for (std::size_t step = 0; step < kSteps; ++step)
      lost[step].add(best > 0 ? 1 - reached[step] / best : 0, number);
  }
  fmt::print("{}: {} markets, up to {} pools, up to {} jobs\n", one.name, one.markets,
             one.shape.pools, one.shape.jobs);
  for (std::size_t step = 0; step < kSteps; ++step)
    fmt::print("  {:<24} mean lost {:7.3f} %  worst {:6.2f} % (seed {})  exact {}\n",
               kStepNames[step], 100 * lost[step].sum / one.markets, 100 * lost[step].worst,
               lost[step].worst_seed, lost[step].exact);
  for (const auto& [jobs, markets] : changes)
    fmt::print("  {} markets would gain if {} jobs changed together\n", markets, jobs);
  fmt::print("  enumeration {:.1f} us, market {:.2f} us: {:.1f} times\n",
             1e6 * enumeration / one.markets, 1e6 * market_time / one.markets,
             enumeration / market_time);
  if (print_worst) print_market(SmallMarket(lost[kSteps - 1].worst_seed, one.shape).draw());
}

}  // namespace
}  // namespace rubato::test

int main(int argc, char** argv) {
  using namespace rubato::test;
  const bool print_worst = argc > 1 && std::strcmp(argv[1], "worst") == 0;
  for (const Case& one : {
           Case{"any value", {Tables::kAnyValue, 3, 6}, 1000},
           Case{"any value, ten jobs", {Tables::kAnyValue, 3, 10}, 1000},
           Case{"training", {Tables::kTraining, 3, 6}, 1000},
           Case{"running", {Tables::kRunning, 3, 6}, 1000},
           Case{"training, ten jobs", {Tables::kTraining, 4, 10}, 200},
           Case{"running, ten jobs", {Tables::kRunning, 4, 10}, 200},
       })
    measure(one, print_worst);
  for (const int size : {8, 64, 512})
    measure_bound({"running", {Tables::kRunning, 4, 2 * size, size}, 200});
}
