// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/market/prices.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>

namespace rubato {

namespace {

constexpr int kSweeps = 12;
// A price is found to within this share of the highest.
constexpr double kPrecision = 1.0 / 65536;
// Above a quotient of value and GPUs, however it was rounded.
constexpr double kAbove = 1 + 1e-12;

/// A row and what is left of its value at some prices. Without a row 0.
struct Choice {
  int row = kNoRow;
  double surplus = 0;
};

// The order in which a job would have its rows: a total one.
bool goes_before(const MarketJob& job, const Choice& a, const Choice& b) {
  if (a.surplus != b.surplus) return a.surplus > b.surplus;
  if (a.row == kNoRow || b.row == kNoRow) return a.row == kNoRow && b.row != kNoRow;
  if ((a.row == job.stays) != (b.row == job.stays)) return a.row == job.stays;
  const auto gpus = [&](const Choice& c) { return job.rows[static_cast<std::size_t>(c.row)].gpus; };
  return std::tuple(gpus(a), a.row) < std::tuple(gpus(b), b.row);
}

/// The rows of one pool, job by job.
struct PoolRows {
  struct Job {
    std::size_t job = 0;
    std::size_t begin = 0;  ///< into `rows`
    std::size_t end = 0;
    Choice elsewhere;  ///< its best in other pools, at the present prices
  };
  int pool = 0;
  std::vector<Job> jobs;
  std::vector<int> rows;
  double too_high = 0;  ///< a price at which no row of the pool is bought
};

PoolRows rows_of(const Market& market, int pool) {
  PoolRows found;
  found.pool = pool;
  for (std::size_t i = 0; i < market.jobs.size(); ++i) {
    const std::size_t begin = found.rows.size();
    for (std::size_t r = 0; r < market.jobs[i].rows.size(); ++r) {
      const MarketRow& row = market.jobs[i].rows[r];
      if (row.pool != pool) continue;
      found.rows.push_back(static_cast<int>(r));
      found.too_high = std::max(found.too_high, row.value / row.gpus);
    }
    if (found.rows.size() > begin) found.jobs.push_back({i, begin, found.rows.size(), {}});
  }
  found.too_high *= kAbove;
  return found;
}

void look_elsewhere(const Market& market, const std::vector<double>& prices, PoolRows& pool) {
  for (PoolRows::Job& one : pool.jobs) {
    const MarketJob& job = market.jobs[one.job];
    one.elsewhere = {};
    for (std::size_t r = 0; r < job.rows.size(); ++r) {
      const MarketRow& row = job.rows[r];
      if (row.pool == pool.pool) continue;
      const Choice choice{static_cast<int>(r),
                          row.value - prices[static_cast<std::size_t>(row.pool)] * row.gpus};
      if (goes_before(job, choice, one.elsewhere)) one.elsewhere = choice;
    }
  }
}

std::int64_t demand(const Market& market, const PoolRows& pool, double price) {
  std::int64_t gpus = 0;
  for (const PoolRows::Job& one : pool.jobs) {
    const MarketJob& job = market.jobs[one.job];
    Choice best = one.elsewhere;
    int taken = 0;
    for (std::size_t i = one.begin; i < one.end; ++i) {
      const MarketRow& row = job.rows[static_cast<std::size_t>(pool.rows[i])];
      const Choice choice{pool.rows[i], row.value - price * row.gpus};
      if (!goes_before(job, choice, best)) continue;
      best = choice;
      taken = row.gpus;
    }
    gpus += taken;
  }
  return gpus;
}

// Demand never grows with the price of its own pool, so a bisection finds the least. `fitting`: a
// price at which it fits.
double least_price(const Market& market, const PoolRows& pool, double fitting) {
  const auto fits = [&](double price) {
    return demand(market, pool, price) <= market.gpus[static_cast<std::size_t>(pool.pool)];
  };
  if (fits(0)) return 0;
  double low = 0;
  double high = fitting;
  while (high - low > kPrecision * pool.too_high) {
    const double middle = low + (high - low) / 2;
    (fits(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

int bought(const MarketJob& job, const std::vector<double>& prices) {
  Choice best;
  for (std::size_t i = 0; i < job.rows.size(); ++i) {
    const MarketRow& row = job.rows[i];
    const Choice choice{static_cast<int>(i),
                        row.value - prices[static_cast<std::size_t>(row.pool)] * row.gpus};
    if (goes_before(job, choice, best)) best = choice;
  }
  return best.row;
}

std::vector<double> market_prices(const Market& market) {
  std::vector<PoolRows> pools;
  std::vector<double> prices;
  for (std::size_t pool = 0; pool < market.gpus.size(); ++pool) {
    pools.push_back(rows_of(market, static_cast<int>(pool)));
    prices.push_back(pools.back().too_high);
  }
  // All prices begin too high and only fall. A price that falls draws jobs away from other pools
  // and sends none there, so a pool that its jobs fit keeps fitting them.
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const std::vector<double> before = prices;
    for (std::size_t pool = 0; pool < prices.size(); ++pool) {
      look_elsewhere(market, prices, pools[pool]);
      prices[pool] = least_price(market, pools[pool], prices[pool]);
    }
    if (prices == before) break;
  }
  return prices;
}

}  // namespace rubato
