// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/stock/backfill_depth.h"

namespace rubato {

void uncount_backfill_try(const job_record_t& job) {
  struct Tried {
    time_t cycle = 0;
    uint32_t job = 0;
    const part_record_t* part = nullptr;
    bool operator==(const Tried&) const = default;
  };
  // Backfill may test one record at several start times, but counts it only once.
  thread_local Tried last;
  const Tried current{slurmctld_diag_stats.bf_when_last_cycle, job.job_id, job.part_ptr};
  if (current == last || (job.bit_flags & JOB_MAGNETIC) != 0) return;
  last = current;
  if (slurmctld_diag_stats.bf_last_depth_try > 0) --slurmctld_diag_stats.bf_last_depth_try;
}

}  // namespace rubato
