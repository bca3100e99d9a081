// SPDX-License-Identifier: GPL-2.0-or-later
// Repairs what a restart of slurmctld gets wrong about jobs that were resized.
#pragma once

namespace rubato {

/// For all running jobs, after the stock plugin entered them into its tables
/// (select_p_reconfigure()):
///
/// - slurmctld takes the first node of a job for that of its batch script (node_scheduler.c,
///   build_node_details()); a job may have grown to a lower one since. It then refuses the end of
///   the script, which comes from another node.
/// - Slurm 22.05 counts the GPUs of each type that a node has given away from what jobs asked for
///   per node or in all, not from what they hold there (gres_ctld.c, _job_alloc()).
///
/// Needs the job and node write locks. Uses Slurm's memory alone and cannot fail.
void repair_restarted_jobs() noexcept;

}  // namespace rubato
