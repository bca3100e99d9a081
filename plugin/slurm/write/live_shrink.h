// SPDX-License-Identifier: GPL-2.0-or-later
// Takes whole nodes from a running job.
#pragma once

#include <vector>

#include "lib/base/error.h"
#include "lib/base/units.h"
#include "lib/core/job.h"

namespace rubato {

/// A running job keeps the nodes `keep` (indices of slurmctld's node table, in any order) and
/// gives back the others, as with `scontrol update JobId=... NodeList=...`. slurmctld kills the
/// tasks on those nodes. Steps go on with their other tasks, unless srun ends them.
///
/// An error says why not: first all rules (why_not_shrink()), then Slurm's own answer. The job is
/// then unchanged, except if the text says which nodes it has now. Needs LockKind::kAct. Without
/// slurmdbd, Slurm 22.05 refuses a second resize of a job. `repair` false leaves it so, for a test.
[[nodiscard]] Result<void> shrink_job(const JobKey& key, const std::vector<int>& keep,
                                      bool repair = true);

}  // namespace rubato
