// SPDX-License-Identifier: GPL-2.0-or-later
// Stage memory: what the next round has to know. A round makes it at its end; what happens between
// two rounds goes into it through the functions below.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/core/snapshot.h"
#include "lib/hints/types.h"
#include "lib/model/progress/done_work.h"
#include "lib/model/progress/predictability.h"
#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/forecasts.h"
#include "lib/policy/algorithms/job_history.h"
#include "lib/policy/algorithms/pending_queue.h"
#include "lib/policy/algorithms/round_input.h"
#include "lib/policy/place.h"

namespace rubato {

/// The last times at which managed jobs with GPUs arrived, ascending: those of Memory and those of
/// the present jobs. At most kArrivalsCounted + 1 (market/closing.h).
[[nodiscard]] std::vector<ArrivalTime> last_arrivals(const RoundInput& input);

/// The memory after this round. Records of jobs that neither wait nor run are dropped; progress,
/// its history and attained service after kRequeueTime, since a requeued job keeps them
/// (lineage.h).
[[nodiscard]] Memory next_memory(const RoundInput& input, const Forecasts& forecasts,
                                 const PendingQueue& queue, const Capacity& capacity,
                                 const JobHistory& history, const Placements& placements,
                                 const Trades& trades);

/// A start of the plan that slurmctld refused.
struct RefusedStart {
  JobKey job;
  std::string reason;   ///< in Slurm's words
  bool planned = true;  ///< the plan named nodes; else Slurm was asked without room
};

/// `memory` with the refused starts of a plan counted, each as one more refusal at `tried` (the
/// time of the plan). A job without a record gets one.
[[nodiscard]] Memory fold_refusals(Memory memory, const std::vector<RefusedStart>& refused,
                                   Seconds tried);

/// Keeps `report` as the last report of its job, unless a later one is known. Counts its samples
/// against those of the report before it (counted()), and its noise for its profile. After a
/// requeue that one has moved to the new key in the round that first saw it (lineage.h).
void fold_report(const Progress& report, Memory& memory, const ReportedJob& job = {});

/// Adds a report to the forecasts of `job`, whose work is `work` (follow()): in efficient samples
/// if fold_report() had it before.
void fold_forecast(const JobKey& job, const ProgressReport& report, const std::optional<Work>& work,
                   Memory& memory);

/// Adds the forecasts of a job that ended to those of its profile (ended()).
void fold_ended(const JobKey& job, const std::string& account, const std::string& job_type,
                Seconds now, Memory& memory);

/// Adds the work of a job that ended, and will not start again, to that of its profile. Mode
/// elastic only, since no other reads it.
void fold_work(const JobKey& job, const ProfileName& profile, Seconds now, Memory& memory);

/// A job that ended and will not start again.
struct EndedJob {
  std::string account{};
  std::optional<Work> work{};  ///< in all, as its hints state
  bool completed = false;      ///< by itself
};

/// Adds how the statement of a job held to those of its account. One that did not complete says
/// something only where it did more than it stated.
void fold_statement(const JobKey& job, const EndedJob& ended, Seconds now, Memory& memory);

/// Makes the jobs predictable that are due for it. For full rounds, see promote_all().
void promote_predictable(Memory& memory);

/// Sets times in `memory` that are later than `now` to `now`, removes forecasts made later, and
/// returns the number of changed times. Such times occur if the clock was set back, or if the state
/// file comes from a machine whose clock was ahead. Without the change, refused starts would not be
/// tried again and jobs would not count as waiting. The start of a reservation stays as it is.
int set_back(Memory& memory, Seconds now);

}  // namespace rubato
