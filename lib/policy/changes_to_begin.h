// SPDX-License-Identifier: GPL-2.0-or-later
// What a plan of mode elastic begins now: changes that belong together begin together.
#pragma once

#include <vector>

#include "lib/core/plan.h"
#include "lib/core/snapshot.h"

namespace rubato {

/// The changes of `plan` to begin after a round on `snapshot`, and the places that they free for
/// waiting jobs, as records for Memory::asked_resizes in the step kSaving or (places) kRequeued;
/// sorted by job.
///
/// - A change or a start whose nodes others free first (`after`) begins with the changes of all of
///   those, or not at all.
/// - A job is stopped only for a change or a start that takes its nodes.
/// - A job for which something is under way, and one that ended since, is left out.
[[nodiscard]] std::vector<AskedResize> changes_to_begin(const Snapshot& snapshot, const Plan& plan);

/// The changes of `plan` that only tell a job another batch or plan, to be told now: nothing is
/// under way for the job, and it has reported since it was told or changed last. In the order of
/// the plan.
[[nodiscard]] std::vector<const Change*> changes_to_tell(const Snapshot& snapshot,
                                                         const Plan& plan);

/// The nodes of `change` need not be waited for: each job of its `after` has changed, or waits
/// itself only for others to change (its lead time is over).
[[nodiscard]] bool may_follow(const AskedResize& change, const Memory& memory, Seconds now);

}  // namespace rubato
