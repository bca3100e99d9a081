// SPDX-License-Identifier: GPL-2.0-or-later
// Stage place: starts what fits, in queue order, beside the reservations.
#pragma once

#include <vector>

#include "lib/core/plan.h"
#include "lib/policy/algorithms/entry_outcome.h"
#include "lib/policy/algorithms/forecasts.h"
#include "lib/policy/algorithms/job_history.h"
#include "lib/policy/algorithms/pending_queue.h"
#include "lib/policy/algorithms/reservation_table.h"
#include "lib/policy/algorithms/round_input.h"
#include "lib/policy/budget.h"
#include "lib/policy/reserve.h"
#include "lib/policy/trade.h"

namespace rubato {

/// What the scheduling pass decided.
struct Placements {
  std::vector<EntryOutcome> outcomes;           ///< by order of the queue
  std::vector<Start> starts;                    ///< in the order in which they are to be tried
  std::vector<BookedReservation> reservations;  ///< existing and new ones, sorted by job
  std::vector<int> passed;  ///< starts that passed each job, by index into JobHistory::jobs()
};

/// Goes down the queue once. A job that fits starts; one that does not fit waits, and gets a
/// reservation if it may have one. Both use up capacity for the jobs below. What `trades` decided
/// stands.
[[nodiscard]] Placements place(const RoundInput& input, const Forecasts& forecasts,
                               const PendingQueue& queue, const JobHistory& history,
                               const Budget& budget, ExistingReservations existing,
                               const Trades& trades);

}  // namespace rubato
