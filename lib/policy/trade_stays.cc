// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/trade_stays.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "lib/policy/market/change_value.h"

namespace rubato {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Looks up what the market knew when it gave the rows.
class StayFinder {
 public:
  explicit StayFinder(const MarketOutcome& outcome) : o_(outcome), free_(outcome.market.gpus) {
    for (std::size_t i = 0; i < o_.tables.size(); ++i) {
      const int row = o_.allocation.row[i];
      if (row != kNoRow) free_[at(bid(i, row).pool)] -= bid(i, row).gpus;
    }
  }

  [[nodiscard]] Stay of(std::size_t i) const;

 private:
  [[nodiscard]] const ConfigurationTable& table(std::size_t i) const { return o_.tables[i]; }
  [[nodiscard]] const NextConfiguration& held(std::size_t i) const {
    return table(i).rows[at(table(i).held)];
  }
  [[nodiscard]] const MarketRow& bid(std::size_t i, int row) const {
    return o_.market.jobs[i].rows[at(row)];
  }
  [[nodiscard]] double surplus(std::size_t i, int row) const {
    return bid(i, row).value - o_.allocation.price[at(bid(i, row).pool)] * bid(i, row).gpus;
  }
  [[nodiscard]] bool lacks_gpus(std::size_t i, int row) const;
  [[nodiscard]] int most_wanted(std::size_t i) const;
  [[nodiscard]] int earliest(std::size_t i) const;
  [[nodiscard]] StayReason why_outbid(std::size_t i, int row) const;
  [[nodiscard]] StayReason why_no_gain(std::size_t i, int row) const;

  const MarketOutcome& o_;
  std::vector<int> free_;  ///< of each pool, after the market
};

// GPUs are missing for the row beside those that the job would give back.
bool StayFinder::lacks_gpus(std::size_t i, int row) const {
  const MarketRow& wanted = bid(i, row);
  const int given_back = gpus_in(o_.market.jobs[i], table(i).held, wanted.pool);
  return wanted.gpus > given_back + free_[at(wanted.pool)];
}

// The row of most value among those worth more than the held one; of equal ones that of fewer GPUs.
// One that fits what is free is worth more by rounding only, or the market would have taken it.
int StayFinder::most_wanted(std::size_t i) const {
  int best = kNoRow;
  for (int row = 0; at(row) < table(i).rows.size(); ++row) {
    if (bid(i, row).value <= bid(i, table(i).held).value || !lacks_gpus(i, row)) continue;
    if (best == kNoRow || std::tuple(-bid(i, row).value, bid(i, row).gpus) <
                              std::tuple(-bid(i, best).value, bid(i, best).gpus))
      best = row;
  }
  return best;
}

// The row that ends the job the earliest, without the cost of the change.
int StayFinder::earliest(std::size_t i) const {
  const auto& rows = table(i).rows;
  int best = table(i).held;
  for (int row = 0; at(row) < rows.size(); ++row) {
    const bool sooner = rows[at(row)].seconds < rows[at(best)].seconds;
    if (sooner && bid(i, row).value <= bid(i, table(i).held).value) best = row;
  }
  return best == table(i).held ? kNoRow : best;
}

StayReason StayFinder::why_outbid(std::size_t i, int row) const {
  if (bid(i, row).gpus > o_.market.gpus[at(bid(i, row).pool)]) return StayReason::kNoGpus;
  const bool too_dear = surplus(i, row) <= surplus(i, table(i).held);
  return too_dear ? StayReason::kPrice : StayReason::kOthers;
}

StayReason StayFinder::why_no_gain(std::size_t i, int row) const {
  const NextConfiguration& to = table(i).rows[at(row)];
  const double noise = noise_between(o_.input, held(i), to);
  const bool unsure = sure_seconds(held(i).seconds, to.seconds, noise) >= held(i).seconds;
  return unsure ? StayReason::kUncertain : StayReason::kCost;
}

Stay StayFinder::of(std::size_t i) const {
  const Job& job = *table(i).job;
  Stay stay;
  stay.job = job.key;
  stay.partition = job.partition;
  stay.seconds_left = held(i).seconds;
  int row = o_.allocation.row[i];
  if (row != table(i).held && row != kNoRow) {
    stay.reason = StayReason::kNoNodes;
  } else if (row = most_wanted(i); row != kNoRow) {
    stay.reason = why_outbid(i, row);
  } else if (row = earliest(i); row != kNoRow) {
    stay.reason = why_no_gain(i, row);
  }
  // A faster row that GrowthCap leaves out is the reason where no other one is.
  const bool capped =
      row == kNoRow && table(i).capped.gpus > 0 && table(i).capped.seconds < held(i).seconds;
  if (capped) {
    stay.reason = StayReason::kCap;
    stay.rule = "GrowthCap";
  }
  if (row == kNoRow && !capped) return stay;
  const NextConfiguration& to = capped ? table(i).capped : table(i).rows[at(row)];
  stay.gpu_type = o_.existing.capacity.types()[to.type];
  stay.gpus = to.gpus;
  stay.cost = change_cost(job, to.live);
  stay.seconds_there = to.seconds + stay.cost;
  if (stay.reason == StayReason::kNoGpus) stay.available = o_.market.gpus[at(bid(i, row).pool)];
  return stay;
}

}  // namespace

double noise_between(const RoundInput& input, const NextConfiguration& a,
                     const NextConfiguration& b) {
  return input.config.off(Mechanism::kNoise) ? 0 : std::hypot(a.stddev, b.stddev);
}

std::vector<Stay> stays_of(const MarketOutcome& outcome, const std::vector<Change>& changes) {
  std::set<JobKey> leave;
  for (const Change& change : changes) {
    if (change.action != ChangeAction::kNotify) leave.insert(change.job);
  }
  const StayFinder finder(outcome);
  std::vector<Stay> stays;
  for (std::size_t i = 0; i < outcome.tables.size(); ++i) {
    const ConfigurationTable& table = outcome.tables[i];
    if (table.held != kNoRow && !leave.contains(table.job->key)) stays.push_back(finder.of(i));
  }
  std::ranges::sort(stays, {}, &Stay::job);
  return stays;
}

Stay stay_of_bound(const ConfigurationTable& table) {
  Stay stay;
  stay.job = table.job->key;
  stay.partition = table.job->partition;
  stay.reason = table.bound->reason;
  stay.seconds_left = seconds_now(table);
  stay.rule = table.bound->rule;
  stay.until = table.bound->until;
  return stay;
}

}  // namespace rubato
