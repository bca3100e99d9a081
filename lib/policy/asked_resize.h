// SPDX-License-Identifier: GPL-2.0-or-later
// Restarts of running jobs at another size or place, which somebody asked for (`rubato resize`) or
// the round decided: whether one is possible, and how a round keeps the size and the place of a job
// that was requeued for one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/config/config.h"
#include "lib/core/plan.h"
#include "lib/model/models.h"

namespace rubato {

/// How long the place of a requeued job is kept, seconds: longer than an epilog usually takes,
/// since the nodes are free after it.
constexpr Seconds kPlaceKept = 120;

/// What a restart is to change.
struct RestartWish {
  int gpus = 0;          ///< in total, at least 1
  std::string gpu_type;  ///< "": any that the job accepts
};

/// Why a running job cannot be restarted, whatever its size; "" if it can. The only consent is the
/// hint checkpoint.
[[nodiscard]] std::string why_never_restarted(const Job& job);

/// The start that `job` (running, in `snapshot`) would get at once if it were requeued now: what
/// round() decides if the job waits first in the queue, its GPUs are free and the wish is its only
/// size. The error says why there is none.
[[nodiscard]] Result<Start> start_after_restart(const Snapshot& snapshot, const Models& models,
                                                const Config& config, const JobKey& job,
                                                const RestartWish& wish, Seconds now);

/// A job like `job` (running) that waits for the wished GPUs alone, for as long as `job` may run
/// still.
[[nodiscard]] Result<Job> part_beside(const Job& job, const RestartWish& wish, Seconds now);

/// The start that a job like `job` (running, in `snapshot`) with only the wished GPUs would get at
/// once, beside it and within its time limit. `only` (sorted; null: all) are the nodes that it may
/// have.
[[nodiscard]] Result<Start> start_beside(const Snapshot& snapshot, const Models& models,
                                         const Config& config, const JobKey& job,
                                         const RestartWish& wish,
                                         const std::vector<NodeIndex>* only, Seconds now);

/// `snapshot` as a round sees it while restarts are under way. During the lead time an obstacle
/// holds what the place has beyond the GPUs of the job, as far as that is free. Between requeue and
/// start (ResizeStep::kRequeued) the job waits first in the queue and has one size; before it is
/// eligible, and while others have to leave its place, an obstacle holds it; `due` ends both.
/// nullopt without such a job.
[[nodiscard]] std::optional<Snapshot> with_restarts(const Snapshot& snapshot);

/// Gives the starts of such jobs the size: for the round it was their request. They start in their
/// place or not yet: elsewhere they would take the nodes of other changes.
void pin_starts(const Memory& memory, Plan& plan);

/// The job of a restart in `snapshot`, after a requeue with its new submit time; null if it neither
/// waits nor runs.
[[nodiscard]] const Job* job_of(const AskedResize& restart, const Snapshot& snapshot);

/// Adds a restart, in the place of an earlier one of the job, with the last report of the job.
void keep_resize(Memory& memory, AskedResize restart);

/// Ended restarts stay in Memory for so long, seconds; those whose cost is still to be measured for
/// up to kCostKeep.
inline constexpr Seconds kResizeKeep = 600;

/// Closes the restarts whose job runs again, ended, or started at another size, and forgets those
/// that ended kResizeKeep ago. Returns the ones that it closed, for the log.
std::vector<AskedResize> follow_resizes(Memory& memory, const Snapshot& snapshot);

/// Measures what the changes cost whose jobs have reported since, and adds that to the costs of
/// their job types (change_costs.h). Returns these changes, for the log.
std::vector<AskedResize> measure_changes(Memory& memory, const Snapshot& snapshot,
                                         const Config& config);

}  // namespace rubato
