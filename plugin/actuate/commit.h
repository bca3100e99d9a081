// SPDX-License-Identifier: GPL-2.0-or-later
// A plan's starts -> slurmctld, in slices of the lock.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "lib/config/config.h"
#include "lib/core/plan.h"
#include "plugin/common/pair.h"
#include "plugin/slurm/stock/locks.h"

namespace rubato {

struct CommitCount {
  std::uint64_t started = 0;  ///< managed jobs
  std::uint64_t started_unmanaged = 0;
  std::uint64_t elsewhere = 0;  ///< started, but not on the nodes planned
  std::uint64_t refused = 0;
};

/// Unmanaged jobs for which slurmctld found no free resources, with a fingerprint of the free
/// resources at that time. While it is equal, slurmctld's answer is too. The key is the job, then
/// "partition\nreservation".
using BusyTries = std::map<std::pair<JobKey, std::string>, std::uint64_t>;

/// Tries the starts of `plan` in order and records refusals in plan.memory. Checks each start again
/// under the locks, which it releases after Config::lock_slice_ms. The first unmanaged job of a
/// partition that finds no free resources blocks the lower ones on its nodes, as in schedule().
/// Skips jobs of `busy` while their nodes are unchanged, and adds jobs that find none. The caller
/// clears `busy` now and then, because an answer can change with time alone.
/// Adds to `count`, also if it throws: jobs may have started by then.
void commit(const Snapshot& snapshot, Plan& plan, const Config& config, Pair& pair,
            LockTimes& times, BusyTries& busy, CommitCount& count);

}  // namespace rubato
