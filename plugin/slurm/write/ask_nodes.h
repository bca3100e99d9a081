// SPDX-License-Identifier: GPL-2.0-or-later
// Asks slurmd which jobs it has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/base/units.h"
#include "plugin/slurm/stock/locks.h"

namespace rubato {

/// Times of slurm.conf, in seconds.
struct LaunchTimes {
  /// After the start of a batch job, from when on slurmctld takes it for lost if its node does not
  /// have it: BatchStartTimeout, and at most 10 s of MessageTimeout (Slurm: job_mgr.c,
  /// _purge_missing_jobs()).
  Seconds start = 0;
  /// In which slurmctld asks each of up to 1000 nodes for its jobs once: 20 pings (Slurm:
  /// ping_nodes.c).
  Seconds registration = 0;
};

/// Takes the lock on the configuration: slurmctld sets these to 0 while it reads slurm.conf anew.
/// nullopt if slurmctld shuts down.
[[nodiscard]] std::optional<LaunchTimes> launch_times(LockTimes& times);

/// Asks the nodes to register, as slurmctld does for each now and then (ping_nodes.c). slurmctld
/// then requeues the batch jobs that a node should have and does not have, or ends those that may
/// not be requeued. Nodes that are down, booting or unknown are left out. Takes the locks.
/// Returns the nodes that do not respond now; nullopt if slurmctld shuts down.
[[nodiscard]] std::optional<std::vector<std::string>> ask_nodes_for_their_jobs(
    const std::vector<std::string>& nodes, LockTimes& times);

}  // namespace rubato
