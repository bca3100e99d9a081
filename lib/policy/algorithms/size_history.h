// SPDX-License-Identifier: GPL-2.0-or-later
// The sizes that a job had over its restarts, and who restarted it last: what a start tells the
// job. And the execution plan and the batch that it was told.
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

/// Fills in Start::restart_reason and Start::resizes by the histories in plan.memory, and notes
/// there what each start tells its job. `snapshot` has the jobs as submitted.
void name_restarts(const Snapshot& snapshot, Plan& plan);

/// Notes that a job was told a plan and a batch ("", 0: none).
void note_told(Memory& memory, const JobKey& job, const std::string& plan, std::int64_t batch,
               Seconds now);

/// Notes what a job was told with a change while it runs; what that leaves as before stays.
void note_told_with(const AskedResize& change, Memory& memory, Seconds now);

/// When a job was told them last; 0: never.
[[nodiscard]] Seconds told_at(const Memory& memory, const JobKey& job);

/// Fills in Job::plan and Job::batch_size of the running jobs: what they were told last; a batch
/// that was not told is that of their last report.
void fill_told(Snapshot& snapshot);

}  // namespace rubato
