// SPDX-License-Identifier: GPL-2.0-or-later
// Which GPU types a job may take, in which order, and how fast it would be on each.
#pragma once

#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/forecasts.h"
#include "lib/policy/algorithms/pending_queue.h"
#include "lib/policy/algorithms/round_input.h"

namespace rubato {

/// Chooses the types of every entry of `queue`: sets PendingEntry::types, which points into
/// PendingQueue::choices.
///
/// A job without forecasts takes the types by relative speed. A job whose job type was measured
/// has a forecast on every type it accepts. All such jobs are matched to types together, against
/// the running jobs (match.h). Each waits for its matched type rather than take one that is
/// clearly slower, until it has waited for ReserveAfter or its starvation bound is due. Then it
/// takes any type it accepts. If its hint `gpu-types` names an order, that order holds, and
/// forecasts only decide between types of one group.
///
/// A type with an uncertain forecast counts as faster by half a standard deviation while some of
/// its GPUs are free: it is explored where that delays no job.
void choose_types(const RoundInput& input, const Forecasts& forecasts, const Capacity& capacity,
                  PendingQueue& queue);

}  // namespace rubato
