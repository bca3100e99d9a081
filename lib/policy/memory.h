// SPDX-License-Identifier: GPL-2.0-or-later
// Stage memory: what the next round has to know. Made once, at the end of a round.
#pragma once

#include <string>
#include <vector>

#include "lib/core/snapshot.h"
#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/forecasts.h"
#include "lib/policy/algorithms/job_history.h"
#include "lib/policy/algorithms/pending_queue.h"
#include "lib/policy/algorithms/round_input.h"
#include "lib/policy/place.h"

namespace rubato {

/// The memory after this round. Records of jobs that neither wait nor run are dropped, progress
/// histories and attained service after kRequeueTime, since a requeued job keeps both.
[[nodiscard]] Memory next_memory(const RoundInput& input, const Forecasts& forecasts,
                                 const PendingQueue& queue, const Capacity& capacity,
                                 const JobHistory& history, const Placements& placements);

/// A start of the plan that slurmctld refused.
struct RefusedStart {
  JobKey job;
  std::string reason;  ///< in Slurm's words
};

/// `memory` with the refused starts of a plan counted, each as one more refusal at `tried` (the
/// time of the plan). A job without a record gets one.
[[nodiscard]] Memory fold_refusals(Memory memory, const std::vector<RefusedStart>& refused,
                                   Seconds tried);

}  // namespace rubato
