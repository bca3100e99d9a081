// SPDX-License-Identifier: GPL-2.0-or-later
// Stage explain: why each job starts, waits or has a reservation.
#pragma once

#include <vector>

#include "lib/core/plan.h"
#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/forecasts.h"
#include "lib/policy/algorithms/job_history.h"
#include "lib/policy/algorithms/pending_queue.h"
#include "lib/policy/algorithms/round_input.h"
#include "lib/policy/place.h"

namespace rubato {

/// One explanation for each entry of `queue`, in its order.
[[nodiscard]] std::vector<Explanation> explain(const RoundInput& input, const Forecasts& forecasts,
                                               const PendingQueue& queue, const Capacity& capacity,
                                               const JobHistory& history,
                                               const Placements& placements);

}  // namespace rubato
