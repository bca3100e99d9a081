// SPDX-License-Identifier: GPL-2.0-or-later
// A running job that is to be restarted: the calls that `scontrol requeue` makes, in process. All
// functions need LockKind::kAct.
#pragma once

#include <optional>
#include <string>

#include "lib/base/error.h"
#include "lib/base/units.h"
#include "lib/hints/types.h"

struct job_record;

namespace rubato {

class RunningJob {
 public:
  /// The error says that the job is suspended, or does not run: it is gone, or another job uses its
  /// id.
  [[nodiscard]] static Result<RunningJob> find(const JobKey& key);

  /// Why slurmctld would not requeue it, or must not; null if it can.
  [[nodiscard]] const char* why_not_requeued() const;
  /// Sends the checkpoint signal, as slurmctld sends that of sbatch --signal (job_mgr.c,
  /// send_job_warn_signal()). The error is Slurm's text.
  [[nodiscard]] Result<void> signal(const Checkpoint& checkpoint) const;
  /// Whether the checkpoint signal goes to a process of it: to the batch script, or to a step.
  [[nodiscard]] bool is_reached(const Checkpoint& checkpoint) const;
  /// Requeues it; it becomes eligible `ahead` seconds from now, unless release() comes first. The
  /// error is Slurm's text.
  [[nodiscard]] Result<void> requeue(Seconds ahead);

 private:
  explicit RunningJob(job_record* job) : job_(job) {}

  job_record* job_;
};

/// What a requeued job waits for.
enum class RequeueState {
  kEnded,       ///< not there, or over for good: cancelled, or it ran once more to its end
  kGone,        ///< not pending: it runs
  kCompleting,  ///< its last run still holds nodes
  kFree,        ///< it can become eligible
  kHeld,        ///< a user or an admin holds it
};

/// Of the job `id` that was requeued after `runs` earlier restarts.
[[nodiscard]] RequeueState requeue_state(JobId id, int runs);

/// Makes a requeued job eligible in `ahead` seconds, if it is not earlier. The slurmd of a node
/// where it ran refuses a credential that is not made in a later second than the request that ended
/// that run (slurm_cred.c). So once it is kFree, 1 is enough there, and 0 on other nodes. The time
/// when it becomes eligible by this call; none if it is already.
std::optional<Seconds> make_eligible(JobId id, Seconds ahead);

}  // namespace rubato
