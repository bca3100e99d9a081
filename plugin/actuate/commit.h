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

/// Unmanaged jobs for which slurmctld found no room, and a fingerprint of what was free then: while
/// that stays, the answer does. By job, and partition and reservation in two lines.
using BusyTries = std::map<std::pair<JobKey, std::string>, std::uint64_t>;

/// Tries the starts of `plan` in order, each checked again under the lock, and notes refusals in
/// plan.memory. Lets the locks go after Config::lock_slice_ms. Of the unmanaged jobs, the first of
/// a partition that finds no room keeps the lower ones off its nodes, as under schedule(). What
/// stands in `busy` is not asked for again while nothing changed on the nodes; what finds no room
/// is added. The caller empties it now and then, since time alone may change an answer.
[[nodiscard]] CommitCount commit(const Snapshot& snapshot, Plan& plan, const Config& config,
                                 Pair& pair, LockTimes& times, BusyTries& busy);

}  // namespace rubato
