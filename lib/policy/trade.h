// SPDX-License-Identifier: GPL-2.0-or-later
// Stage trade, in mode elastic: one decision about all jobs with a choice, running and waiting. Who
// gets how many GPUs of which type now, and on which nodes.
#pragma once

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "lib/core/plan.h"
#include "lib/policy/algorithms/forecasts.h"
#include "lib/policy/algorithms/job_history.h"
#include "lib/policy/algorithms/pending_queue.h"
#include "lib/policy/algorithms/placer.h"
#include "lib/policy/algorithms/round_input.h"
#include "lib/policy/reserve.h"

namespace rubato {

/// What the market decided about a waiting job.
struct TradedEntry {
  std::optional<Placement> placement;  ///< none: it waits
  PendingEntry as;                     ///< in the configuration of `placement`
  std::vector<JobKey> after;           ///< running jobs whose changes free its nodes; sorted
  double worth = 0;  ///< if it waits: its best value per GPU over the price of that GPU, below 1
  TypeId type = kNoGpu;  ///< that of `worth`
};

/// The result of the stage. It points into the queue and into `sized`, so it can be moved only.
struct Trades {
  Trades() = default;
  Trades(Trades&&) = default;
  Trades& operator=(Trades&&) = default;
  Trades(const Trades&) = delete;
  Trades& operator=(const Trades&) = delete;
  ~Trades() = default;

  std::vector<Change> changes;            ///< sorted by job
  std::vector<Stay> stays;                ///< sorted by job
  std::map<JobKey, double> gains;         ///< of changes and starts, beyond the price of the GPUs
  std::vector<TypePrice> prices;          ///< by name
  std::vector<TypePrice> mean_prices;     ///< Memory::prices after this round
  std::vector<Exploration> explorations;  ///< Memory::explorations after this round
  std::map<JobKey, TradedEntry> entries;  ///< of waiting jobs
  /// What changes and starts take of the capacity until a time, beside what running jobs hold now.
  std::vector<std::pair<NodeShare, Seconds>> taken;
  std::deque<Job> sized;  ///< jobs in other configurations than requested

  /// What was decided about a waiting job; null: nothing, the stage place decides.
  [[nodiscard]] const TradedEntry* of(const JobKey& job) const {
    const auto at = entries.find(job);
    return at != entries.end() ? &at->second : nullptr;
  }
};

/// Values the configurations of all jobs (configuration_table.h) by what the end of each job is
/// worth (market/rank_value.h) and what a change costs (market/change_value.h), finds the rows of
/// the highest sum (market/allocation.h), and nodes for those that changed. A job without nodes for
/// its row takes another of at most its size, or keeps what it has, or waits. `existing` has
/// reserved what the market cannot have.
///
/// Where a cap (restarts.h, growth_cap.h) does not allow all changes, those with the least gain are
/// forbidden, and everything is decided again without them.
[[nodiscard]] Trades trade(const RoundInput& input, const Forecasts& forecasts,
                           const PendingQueue& queue, const JobHistory& history,
                           const ExistingReservations& existing);

}  // namespace rubato
