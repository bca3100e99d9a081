// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/market/precedence.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <utility>

#include "lib/policy/market/prices.h"

namespace rubato {
namespace {

// More than all rows of a market are worth together.
double premium_of(const Market& market) {
  double sum = 0;
  for (const MarketJob& job : market.jobs) {
    double most = 0;
    for (const MarketRow& row : job.rows) most = std::max(most, std::abs(row.value));
    sum += 2 * most;
  }
  return sum;
}

/// The market as the classes enter it.
class Entrance {
 public:
  Entrance(const Market& market, const std::vector<ClassedJob>& jobs, int passes)
      : market_(market), jobs_(jobs), passes_(passes), kept_(jobs.size()) {
    stage_.gpus = market.gpus;
    stage_.jobs.resize(market.jobs.size());
  }

  [[nodiscard]] Allocation run();

 private:
  [[nodiscard]] int place_of(std::size_t i) const {
    return std::min(jobs_[i].place, kMostClasses - 1);
  }
  bool enter(int place, bool first);
  [[nodiscard]] Market stage() const;
  void keep_served(int place, const std::vector<int>& rows);
  [[nodiscard]] bool loses_none(const std::vector<int>& rows) const;

  const Market& market_;
  const std::vector<ClassedJob>& jobs_;
  int passes_;
  Market stage_;
  std::vector<bool> kept_;  ///< by job: it keeps a row from here on
};

// False if no job entered.
bool Entrance::enter(int place, bool first) {
  bool any = false;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const bool enters = jobs_[i].runs ? first : place_of(i) == place;
    if (!enters) continue;
    stage_.jobs[i] = market_.jobs[i];
    any = true;
  }
  return any;
}

void Entrance::keep_served(int place, const std::vector<int>& rows) {
  for (std::size_t i = 0; i < jobs_.size(); ++i)
    kept_[i] = kept_[i] || (place_of(i) <= place && rows[i] != kNoRow);
}

// The jobs that have entered; those that keep a row would give up anything else before it. They may
// always keep the row that they hold. The premium must not depend on jobs that have not entered.
Market Entrance::stage() const {
  Market stage = stage_;
  const double premium = premium_of(stage_);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (!kept_[i]) continue;
    MarketJob& job = stage.jobs[i];
    for (std::size_t row = 0; row < job.rows.size(); ++row) {
      if (job.rows[row].value > 0 || static_cast<int>(row) == job.stays)
        job.rows[row].value += premium;
    }
  }
  return stage;
}

bool Entrance::loses_none(const std::vector<int>& rows) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (kept_[i] && rows[i] == kNoRow) return false;
  }
  return true;
}

Allocation Entrance::run() {
  std::set<int> places;
  for (std::size_t i = 0; i < jobs_.size(); ++i) places.insert(place_of(i));
  std::vector<int> rows(jobs_.size(), kNoRow);
  for (const int place : places) {
    const bool first = place == *places.begin();
    const bool entered = enter(place, first);
    for (std::size_t i = 0; first && i < jobs_.size(); ++i) {
      if (!jobs_[i].keeps) continue;
      kept_[i] = true;
      rows[i] = market_.jobs[i].stays;
    }
    if (entered) {
      const Market market = stage();
      auto [next, prices] = allocate(market, passes_);
      // Prices need not find rows for all that keep one. From the rows before, none is lost.
      rows = loses_none(next) ? std::move(next) : improve(market, prices, rows, passes_);
    }
    keep_served(place, rows);
  }
  return {std::move(rows), market_prices(market_)};
}

}  // namespace

Allocation allocate_by_class(const Market& market, const std::vector<ClassedJob>& jobs,
                             int passes) {
  const bool plain = std::ranges::all_of(
      jobs, [&](const ClassedJob& job) { return job.place == jobs[0].place && !job.keeps; });
  return plain ? allocate(market, passes) : Entrance(market, jobs, passes).run();
}

}  // namespace rubato
