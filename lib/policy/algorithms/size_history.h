// SPDX-License-Identifier: GPL-2.0-or-later
// The sizes that a job had over its restarts, and who restarted it last: what a start tells the
// job.
#pragma once

#include <set>
#include <vector>

#include "lib/core/plan.h"
#include "lib/core/snapshot.h"

namespace rubato {

/// The histories of the managed jobs that may change (hint resize), brought forward from the memory
/// of `snapshot`; sorted by key. A history is kept for as long as its job is among `remembered`. A
/// change of the size counts whoever made it, also an admin or a requeue to the submitted size.
[[nodiscard]] std::vector<SizeHistory> follow_sizes(const Snapshot& snapshot,
                                                    const std::set<JobKey>& remembered);

/// Fills in Start::restart_reason and Start::resizes by the histories in plan.memory. `snapshot`
/// has the jobs as submitted.
void name_restarts(const Snapshot& snapshot, Plan& plan);

}  // namespace rubato
