// SPDX-License-Identifier: GPL-2.0-or-later
// A plan's starts -> slurmctld, in slices of the lock.
#pragma once

#include <cstdint>

#include "lib/config/config.h"
#include "lib/core/plan.h"
#include "plugin/pair/pair.h"
#include "plugin/slurm/locks.h"

namespace rubato {

struct CommitCount {
  std::uint64_t started = 0;  ///< managed jobs
  std::uint64_t started_unmanaged = 0;
  std::uint64_t elsewhere = 0;  ///< started, but not on the nodes planned
  std::uint64_t refused = 0;
};

/// Tries the starts of `plan` in order, each checked again under the lock, and notes refusals in
/// plan.memory. Lets the locks go after Config::lock_slice_ms. Of the unmanaged jobs, the first of
/// a partition that finds no room keeps the lower ones off its nodes, as under schedule().
[[nodiscard]] CommitCount commit(const Snapshot& snapshot, Plan& plan, const Config& config,
                                 Pair& pair, LockTimes& times);

}  // namespace rubato
