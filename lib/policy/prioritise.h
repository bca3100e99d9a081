// SPDX-License-Identifier: GPL-2.0-or-later
// Stage prioritise: the order of the queue.
#pragma once

#include <vector>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "lib/policy/algorithms/need.h"

namespace rubato {

/// Pending entries in the order in which they are tried.
using QueueOrder = std::vector<const Job*>;

/// The pending entries in the order of this round. Slurm's own order stands, which honours tiers,
/// priorities and job ids, but for managed jobs of one tier and one band of priority
/// (PriorityBand): these change places among themselves, so that a lower level of the multi-level
/// queue goes first, and of one level a lower class of need (need.h). `service` and `needs` are
/// sorted by key; a job without service is level 0, one without need class 0. Does not depend on
/// the order in which the snapshot lists the jobs.
[[nodiscard]] QueueOrder prioritise(const Snapshot& snapshot, const Config& config,
                                    const std::vector<Service>& service,
                                    const std::vector<JobNeed>& needs = {});

}  // namespace rubato
