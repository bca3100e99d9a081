// SPDX-License-Identifier: GPL-2.0-or-later
// Markets so small that the best rows are found by trying all.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "lib/policy/market/market.h"
#include "lib/policy/market/prices.h"

namespace rubato::test {

/// The sum of the values of the rows taken, by job.
inline double sum_of_values(const Market& market, const std::vector<int>& rows) {
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) sum += value_of(market.jobs[i], rows[i]);
  return sum;
}

/// GPUs of each pool that the rows leave free. Below 0 where they do not fit.
inline std::vector<int> free_gpus(const Market& market, const std::vector<int>& rows) {
  std::vector<int> free = market.gpus;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t pool = 0; pool < free.size(); ++pool)
      free[pool] -= gpus_in(market.jobs[i], rows[i], static_cast<int>(pool));
  }
  return free;
}

/// The highest sum that the jobs from `job` on reach on `free`, by enumeration.
inline double best_sum_from(const Market& market, std::size_t job, std::vector<int>& free) {
  if (job == market.jobs.size()) return 0;
  double best = best_sum_from(market, job + 1, free);
  for (const MarketRow& row : market.jobs[job].rows) {
    int& left = free[static_cast<std::size_t>(row.pool)];
    if (row.gpus > left) continue;
    left -= row.gpus;
    best = std::max(best, row.value + best_sum_from(market, job + 1, free));
    left += row.gpus;
  }
  return best;
}

/// The highest sum of values that fits, by enumeration of all rows of all jobs.
inline double best_sum(const Market& market) {
  std::vector<int> free = market.gpus;
  return best_sum_from(market, 0, free);
}

/// No rows that fit have a higher sum: what the prices take in, and what is left of the values.
inline double bound_by(const Market& market, const std::vector<double>& prices) {
  double bound = 0;
  for (std::size_t pool = 0; pool < prices.size(); ++pool)
    bound += prices[pool] * market.gpus[pool];
  for (const MarketJob& job : market.jobs) {
    const int row = bought(job, prices);
    if (row == kNoRow) continue;
    const MarketRow& taken = job.rows[static_cast<std::size_t>(row)];
    bound += taken.value - prices[static_cast<std::size_t>(taken.pool)] * taken.gpus;
  }
  return bound;
}

/// Where the rows of a drawn market come from.
enum class Tables {
  kAnyValue,  ///< up to four rows of any pool, size and value
  kTraining,  ///< sizes that double, on each pool; speed grows as a power of the size
  kRunning,   ///< as kTraining; half of the jobs hold a row, and a change costs up to 30 %
};

struct MarketShape {
  Tables tables = Tables::kAnyValue;
  int pools = 3;  ///< at most
  int jobs = 6;   ///< at most
  int gpus = 8;   ///< of a pool, at most
};

/// Draws a market. The same seed gives the same market on each system.
class SmallMarket {
 public:
  SmallMarket(std::uint64_t seed, const MarketShape& shape) : random_(seed), shape_(shape) {}

  [[nodiscard]] Market draw() {
    Market market;
    for (int i = between(1, shape_.pools); i > 0; --i)
      market.gpus.push_back(between(1, shape_.gpus));
    for (std::size_t i = 0; i < market.gpus.size(); ++i) speeds_.push_back(share(1, 3));
    for (int i = between(2, shape_.jobs); i > 0; --i)
      market.jobs.push_back(shape_.tables == Tables::kAnyValue ? any_job() : training_job());
    if (shape_.tables == Tables::kRunning) hold(market);
    return market;
  }

 private:
  // The distributions of the standard library differ between systems.
  int between(int from, int to) {
    return from + static_cast<int>(random_() % static_cast<std::uint64_t>(to - from + 1));
  }
  double share(double from, double to) { return from + (to - from) * between(0, 1000) / 1000; }

  MarketJob any_job() {
    MarketJob job;
    const int pools = static_cast<int>(speeds_.size());
    for (int i = between(1, 4); i > 0; --i)
      job.rows.push_back({between(0, pools - 1), between(1, 4), 1.0 * between(1, 1000)});
    return job;
  }

  // Short jobs are worth more a second: the inverse of a length over two decades.
  MarketJob training_job() {
    MarketJob job;
    const double worth = std::pow(10, share(0, 2) / 2);
    const double power = share(.4, .95);
    const int least = 1 << between(0, 2);
    const int most = least << between(0, 2);
    for (std::size_t pool = 0; pool < speeds_.size(); ++pool) {
      const double speed = speeds_[pool] * share(.7, 1.3);
      for (int gpus = least; gpus <= std::min(most, 8); gpus *= 2)
        job.rows.push_back({static_cast<int>(pool), gpus, worth * speed * std::pow(gpus, power)});
    }
    return job;
  }

  // Rows that fit, drawn job by job.
  void hold(Market& market) {
    std::vector<int> free = market.gpus;
    for (MarketJob& job : market.jobs) {
      const int held = between(0, static_cast<int>(job.rows.size()) - 1);
      const MarketRow& row = job.rows[static_cast<std::size_t>(held)];
      int& left = free[static_cast<std::size_t>(row.pool)];
      if (between(0, 1) == 0 || row.gpus > left) continue;
      left -= row.gpus;
      job.stays = held;
      const double kept = share(.7, 1);
      for (std::size_t i = 0; i < job.rows.size(); ++i)
        job.rows[i].value *= static_cast<int>(i) == held ? 1 : kept;
    }
  }

  std::mt19937_64 random_;
  MarketShape shape_;
  std::vector<double> speeds_;  ///< by pool
};

}  // namespace rubato::test
