// SPDX-License-Identifier: GPL-2.0-or-later
// More GPUs for a running job: a helper job is submitted on the nodes, started, and merged into
// it, as `sbatch --dependency=expand:JOBID` and `scontrol update NumNodes=0` do. All functions need
// LockKind::kAct, and the whole growth one hold of it, so that nothing comes between.
#pragma once

#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/units.h"
#include "lib/core/job.h"

namespace rubato {

/// What a running job gets on one node.
struct AddedShare {
  int node = 0;  ///< index of slurmctld's node table
  int cores = 0;
  MiB memory = 0;  ///< 0: memory is not counted
  int gpus = 0;
};

/// Whether the job can get more GPUs of `gpu_type` now; the error says why not.
[[nodiscard]] Result<void> can_grow(const JobKey& key, const std::string& gpu_type);

/// A job that waits to be started on this node and merged into `grown`: its owner, partition,
/// account, QOS, reservation and time limit are those of `grown`. Nothing starts it but Rubato. The
/// error is Slurm's text.
struct Helper {
  JobKey job;
  std::string partition;
};
[[nodiscard]] Result<Helper> submit_helper(const JobKey& grown, const AddedShare& share,
                                           const std::string& gpu_type);

/// Whether the job may have what these helpers request beside its own, by the limits on a single
/// job (job_limits.h). The error names the limit.
[[nodiscard]] Result<void> may_hold(const JobKey& grown, const std::vector<Helper>& helpers);

/// Ends a helper that was not merged.
void cancel_helper(const JobKey& helper);

/// Merges a running helper into `grown`, through slurmctld's update_job(); the caller's thread must
/// be in a start of the gate (Pair::enter_start()). The error is Slurm's text.
[[nodiscard]] Result<void> merge_helper(const JobKey& grown, const JobKey& helper);

/// GPUs that the job holds, by its allocation; 0 if it is gone.
[[nodiscard]] int gpus_held(const JobKey& key);

/// After a growth: the job asks again for what it was submitted with when it is requeued.
/// slurmctld's next save has the growth.
void end_growth(const JobKey& grown);

}  // namespace rubato
