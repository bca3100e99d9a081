// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/trade_trials.h"

#include <cmath>
#include <tuple>

namespace rubato {
namespace {

double hoped_seconds(const NextConfiguration& row) {
  return row.seconds * std::exp(-kTrialHope * row.stddev);
}

// Before the time limit, and with as much gained as any other row of this size must gain.
bool may_be_worth_it(const RoundInput& input, const ConfigurationTable& table,
                     const NextConfiguration& row) {
  const NextConfiguration& held = table.rows[static_cast<std::size_t>(table.held)];
  const double then = hoped_seconds(row) + change_cost(*table.job, true);
  const Seconds end = table.job->end_limit;
  if (end < kForever && then > static_cast<double>(end - input.now)) return false;
  return std::log(held.seconds / then) >=
         input.config.min_scaling * std::log(static_cast<double>(row.gpus) / held.gpus);
}

// The trial that may end the job the earliest; kNoRow: none.
int trial_of(const RoundInput& input, const ConfigurationTable& table, int left) {
  const NextConfiguration& held = table.rows[static_cast<std::size_t>(table.held)];
  int best = kNoRow;
  for (int i = 0; i < table.held; ++i) {
    const NextConfiguration& row = table.rows[static_cast<std::size_t>(i)];
    const bool unsure = row.live && row.gpus > held.gpus && row.stddev >= kTrialStddev;
    if (!unsure || row.gpus - held.gpus > left || !may_be_worth_it(input, table, row)) continue;
    const auto goes_before = [&](const NextConfiguration& other) {
      return std::tuple(hoped_seconds(row), row.gpus) <
             std::tuple(hoped_seconds(other), other.gpus);
    };
    if (best == kNoRow || goes_before(table.rows[static_cast<std::size_t>(best)])) best = i;
  }
  return best;
}

}  // namespace

void try_idle_gpus(const RoundInput& input, const std::vector<ConfigurationTable>& tables,
                   const Market& market, Allocation& allocation) {
  std::vector<int> left = market.gpus;
  const auto bid = [&](std::size_t job) -> const MarketRow& {
    return market.jobs[job].rows[static_cast<std::size_t>(allocation.row[job])];
  };
  for (std::size_t i = 0; i < tables.size(); ++i)
    if (allocation.row[i] != kNoRow) left[static_cast<std::size_t>(bid(i).pool)] -= bid(i).gpus;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (tables[i].held < 0 || allocation.row[i] != tables[i].held) continue;
    int& free = left[static_cast<std::size_t>(bid(i).pool)];
    const int before = bid(i).gpus;
    const int trial = trial_of(input, tables[i], free);
    if (trial == kNoRow) continue;
    allocation.row[i] = trial;
    free -= bid(i).gpus - before;
  }
}

}  // namespace rubato
