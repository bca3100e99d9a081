// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/market/prices.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace rubato {

namespace {

constexpr int kSweeps = 12;
// A price is found to within this share of the highest.
constexpr double kPrecision = 1.0 / 65536;
// Above a quotient of value and GPUs, however it was rounded.
constexpr double kAbove = 1 + 1e-12;

std::int64_t demand(const Market& market, const std::vector<double>& prices, int pool) {
  std::int64_t gpus = 0;
  for (const MarketJob& job : market.jobs) gpus += gpus_in(job, bought(job, prices), pool);
  return gpus;
}

// A price at which no row of the pool is bought.
double too_high(const Market& market, int pool) {
  double most = 0;
  for (const MarketJob& job : market.jobs) {
    for (const MarketRow& row : job.rows)
      if (row.pool == pool) most = std::max(most, row.value / row.gpus);
  }
  return most * kAbove;
}

// Demand never grows with the price of its own pool, so a bisection finds the least.
double least_price(const Market& market, std::vector<double> prices, int pool) {
  const auto at = static_cast<std::size_t>(pool);
  const auto fits = [&](double price) {
    prices[at] = price;
    return demand(market, prices, pool) <= market.gpus[at];
  };
  if (fits(0)) return 0;
  const double most = too_high(market, pool);
  double low = 0;
  double high = most;
  while (high - low > kPrecision * most) {
    const double middle = low + (high - low) / 2;
    (fits(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

int bought(const MarketJob& job, const std::vector<double>& prices) {
  int best = kNoRow;
  double most = 0;
  const auto goes_before = [&](int row, double surplus) {
    if (surplus != most) return surplus > most;
    if (best == kNoRow || best == job.stays) return false;
    if (row == job.stays) return true;
    return job.rows[static_cast<std::size_t>(row)].gpus <
           job.rows[static_cast<std::size_t>(best)].gpus;
  };
  for (std::size_t i = 0; i < job.rows.size(); ++i) {
    const MarketRow& row = job.rows[i];
    const double surplus = row.value - prices[static_cast<std::size_t>(row.pool)] * row.gpus;
    if (!goes_before(static_cast<int>(i), surplus)) continue;
    best = static_cast<int>(i);
    most = surplus;
  }
  return best;
}

std::vector<double> market_prices(const Market& market) {
  std::vector<double> prices;
  for (std::size_t pool = 0; pool < market.gpus.size(); ++pool)
    prices.push_back(too_high(market, static_cast<int>(pool)));
  // All prices begin too high and only fall. A price that falls draws jobs away from other pools
  // and sends none there, so a pool that its jobs fit keeps fitting them.
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const std::vector<double> before = prices;
    for (std::size_t pool = 0; pool < prices.size(); ++pool)
      prices[pool] = least_price(market, prices, static_cast<int>(pool));
    if (prices == before) break;
  }
  return prices;
}

}  // namespace rubato
