// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the summaries of ended runs to the AdminComment of their jobs.
#pragma once

#include <memory>
#include <vector>

#include "lib/config/config.h"
#include "lib/json/decisions.h"
#include "plugin/slurm/stock/locks.h"

namespace rubato {

/// Puts summary_line() of each run into the job's admin_comment in slurmctld, in lock slices of
/// Config::lock_slice_ms, and then without locks into its accounting record. Slurm refuses updates
/// of finished jobs (slurmctld job_mgr.c, _update_job()), so this does what its burst buffers do
/// (burst_buffer_common.c, bb_update_system_comment()): the record is set, and the change goes to
/// the queue for slurmdbd, which keeps it while slurmdbd is away. Jobs that are gone, run again or
/// wait again are left alone. Without accounting_storage/slurmdbd only slurmctld has the line.
void write_admin_comments(const std::vector<std::shared_ptr<const StartRecord>>& ended,
                          const Config& config, LockTimes& times);

}  // namespace rubato
