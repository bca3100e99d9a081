// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/market/allocation.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "lib/policy/market/prices.h"

namespace rubato {

namespace {

// A change must be worth this share of what it is about: rounding alone is no reason.
constexpr double kLeastGain = 1e-9;
// At the prices a job that makes room loses about the price of what it gives. Rows that gain less
// than this share of it are not tried.
constexpr double kPromising = .5;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

bool pays(double gain, double value) { return gain > kLeastGain * std::max(value, -value); }

/// Rows, and the GPUs they leave free.
class Allocator {
 public:
  Allocator(const Market& market, const std::vector<double>& prices, int passes)
      : market_(market),
        prices_(prices),
        passes_(passes),
        free_(market.gpus),
        row_(market.jobs.size(), kNoRow) {}

  std::vector<int> run_from(const std::vector<int>& rows);

 private:
  struct Upgrade {
    double worth = 0;  ///< gain a GPU; infinite if it needs no more of them
    double gain = 0;
    int job = 0;
    int row = 0;
  };
  struct Trade {
    double gain = 0;
    int row = kNoRow;  ///< of the job that goes to a better one
    int partner = 0;   ///< the job that makes room
    int partner_row = kNoRow;
  };

  [[nodiscard]] const MarketJob& job(int index) const { return market_.jobs[at(index)]; }
  [[nodiscard]] double gain_of(int index, int row) const {
    return value_of(job(index), row) - value_of(job(index), row_[at(index)]);
  }
  void set(int index, int row);
  [[nodiscard]] std::vector<std::pair<double, int>> held_in(int pool) const;
  [[nodiscard]] std::optional<Upgrade> best_upgrade(int index) const;
  bool fill_once();
  void fill();
  [[nodiscard]] int missing(int index, const MarketRow& row) const;
  [[nodiscard]] int best_within(int partner, int pool, int most, int index) const;
  [[nodiscard]] bool consider(int index, int row, int partner, Trade& best) const;
  [[nodiscard]] std::optional<Trade> best_trade(int index) const;
  void list_holders();
  bool search_once();

  const Market& market_;
  const std::vector<double>& prices_;  ///< by pool
  int passes_;
  std::vector<int> free_;                  ///< by pool
  std::vector<int> row_;                   ///< by job
  std::vector<std::vector<int>> holders_;  ///< by pool, those with least value a GPU first
};

void Allocator::set(int index, int row) {
  int& now = row_[at(index)];
  if (now != kNoRow) {
    const MarketRow& held = job(index).rows[at(now)];
    free_[at(held.pool)] += held.gpus;
  }
  if (row != kNoRow) {
    const MarketRow& taken = job(index).rows[at(row)];
    free_[at(taken.pool)] -= taken.gpus;
  }
  now = row;
}

// The jobs on GPUs of the pool with their value a GPU, the least first; of equal ones the last
// job.
std::vector<std::pair<double, int>> Allocator::held_in(int pool) const {
  std::vector<std::pair<double, int>> held;
  for (std::size_t i = 0; i < row_.size(); ++i) {
    const int gpus = gpus_in(market_.jobs[i], row_[i], pool);
    if (gpus > 0) held.emplace_back(value_of(market_.jobs[i], row_[i]) / gpus, static_cast<int>(i));
  }
  std::sort(held.begin(), held.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.first, -a.second) < std::tuple(b.first, -b.second);
  });
  return held;
}

// The upgrade of most value a GPU that fits what is free.
std::optional<Allocator::Upgrade> Allocator::best_upgrade(int index) const {
  const MarketJob& one = job(index);
  const int now = row_[at(index)];
  const int held = now == kNoRow ? 0 : one.rows[at(now)].gpus;
  std::optional<Upgrade> best;
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    const MarketRow& row = one.rows[i];
    const double gain = gain_of(index, static_cast<int>(i));
    if (!pays(gain, row.value) || missing(index, row) > 0) continue;
    const int more = row.gpus - held;
    const double worth = more > 0 ? gain / more : std::numeric_limits<double>::infinity();
    if (best && std::tuple(worth, gain) <= std::tuple(best->worth, best->gain)) continue;
    best = Upgrade{worth, gain, index, static_cast<int>(i)};
  }
  return best;
}

// An upgrade that fitted may not fit any more when its turn comes: then the job's next best one is
// looked for. True if any was made.
bool Allocator::fill_once() {
  const auto less = [](const Upgrade& a, const Upgrade& b) {
    return std::tuple(a.worth, a.gain, -a.job) < std::tuple(b.worth, b.gain, -b.job);
  };
  std::priority_queue<Upgrade, std::vector<Upgrade>, decltype(less)> upgrades(less);
  const auto offer = [&](int index) {
    if (const auto upgrade = best_upgrade(index)) upgrades.push(*upgrade);
  };
  for (std::size_t i = 0; i < row_.size(); ++i) offer(static_cast<int>(i));
  bool any = false;
  while (!upgrades.empty()) {
    const Upgrade next = upgrades.top();
    upgrades.pop();
    if (missing(next.job, job(next.job).rows[at(next.row)]) <= 0) {
      set(next.job, next.row);
      any = true;
    }
    offer(next.job);
  }
  return any;
}

// A move to another pool frees GPUs for jobs that were looked at before. Each upgrade makes the sum
// grow, so this ends.
void Allocator::fill() {
  while (fill_once()) {
  }
}

// GPUs that `row` needs beyond what is free and what the job itself would give back there.
int Allocator::missing(int index, const MarketRow& row) const {
  return row.gpus - gpus_in(job(index), row_[at(index)], row.pool) - free_[at(row.pool)];
}

// The best row of `partner` with at most so many GPUs of `pool`. Elsewhere it takes what is free
// and what job `index` leaves.
int Allocator::best_within(int partner, int pool, int most, int index) const {
  const MarketJob& one = job(partner);
  int best = kNoRow;
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    const MarketRow& row = one.rows[i];
    const bool fits = row.pool == pool
                          ? row.gpus <= most
                          : missing(partner, row) <= gpus_in(job(index), row_[at(index)], row.pool);
    if (fits && row.value > value_of(one, best)) best = static_cast<int>(i);
  }
  return best;
}

// False if `partner` does not hold enough.
bool Allocator::consider(int index, int row, int partner, Trade& best) const {
  const MarketRow& wanted = job(index).rows[at(row)];
  const int has = gpus_in(job(partner), row_[at(partner)], wanted.pool);
  const int lacks = missing(index, wanted);
  if (partner == index || has < lacks) return false;
  const int other = best_within(partner, wanted.pool, has - lacks, index);
  const double gain = gain_of(index, row) + gain_of(partner, other);
  if (gain > best.gain && pays(gain, wanted.value)) best = Trade{gain, row, partner, other};
  return true;
}

std::optional<Allocator::Trade> Allocator::best_trade(int index) const {
  Trade best;
  for (std::size_t i = 0; i < job(index).rows.size(); ++i) {
    const int row = static_cast<int>(i);
    if (gain_of(index, row) <= best.gain) continue;  // a partner only loses
    const MarketRow& wanted = job(index).rows[i];
    const int lacks = missing(index, wanted);
    if (lacks <= 0) continue;
    if (gain_of(index, row) < kPromising * prices_[at(wanted.pool)] * lacks) continue;
    int tried = 0;
    for (const int partner : holders_[at(wanted.pool)]) {
      if (!consider(index, row, partner, best)) continue;
      if (++tried == kPartners) break;
    }
  }
  if (best.row == kNoRow) return std::nullopt;
  return best;
}

// Who loses least by making room is tried first. The lists are those at the start of a pass.
void Allocator::list_holders() {
  holders_.assign(free_.size(), {});
  for (std::size_t pool = 0; pool < free_.size(); ++pool) {
    for (const auto& [unused, index] : held_in(static_cast<int>(pool)))
      holders_[pool].push_back(index);
  }
}

bool Allocator::search_once() {
  list_holders();
  bool any = false;
  for (std::size_t i = 0; i < row_.size(); ++i) {
    const auto trade = best_trade(static_cast<int>(i));
    if (!trade) continue;
    set(trade->partner, trade->partner_row);
    set(static_cast<int>(i), trade->row);
    any = true;
  }
  return any;
}

std::vector<int> Allocator::run_from(const std::vector<int>& rows) {
  for (std::size_t i = 0; i < row_.size(); ++i) set(static_cast<int>(i), rows[i]);
  fill();
  for (int pass = 0; pass < passes_; ++pass) {
    if (!search_once()) break;
    fill();
  }
  return std::move(row_);
}

std::vector<int> rows_bought(const Market& market, const std::vector<double>& prices) {
  std::vector<int> rows;
  rows.reserve(market.jobs.size());
  for (const MarketJob& job : market.jobs) rows.push_back(bought(job, prices));
  return rows;
}

/// What the jobs hold now; empty if none holds anything, or it does not fit (nodes went down).
std::vector<int> rows_held(const Market& market) {
  std::vector<int> free = market.gpus;
  std::vector<int> rows;
  bool any = false;
  rows.reserve(market.jobs.size());
  for (const MarketJob& job : market.jobs) {
    rows.push_back(job.stays);
    if (job.stays == kNoRow) continue;
    any = true;
    const MarketRow& row = job.rows[at(job.stays)];
    free[at(row.pool)] -= row.gpus;
    if (free[at(row.pool)] < 0) return {};
  }
  return any ? rows : std::vector<int>();
}

double sum_of(const Market& market, const std::vector<int>& rows) {
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) sum += value_of(market.jobs[i], rows[i]);
  return sum;
}

}  // namespace

std::vector<int> improve(const Market& market, const std::vector<double>& prices,
                         const std::vector<int>& rows, int passes) {
  return Allocator(market, prices, passes).run_from(rows);
}

Allocation allocate(const Market& market, int passes) {
  std::vector<double> prices = market_prices(market);
  std::vector<int> rows = improve(market, prices, rows_bought(market, prices), passes);
  if (const std::vector<int> held = rows_held(market); !held.empty()) {
    std::vector<int> kept = improve(market, prices, held, passes);
    const double sum = sum_of(market, rows);
    if (!pays(sum - sum_of(market, kept), sum)) rows = std::move(kept);
  }
  return {std::move(rows), std::move(prices)};
}

}  // namespace rubato
