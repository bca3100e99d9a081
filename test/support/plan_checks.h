// SPDX-License-Identifier: GPL-2.0-or-later
// Checks the guarantees of a plan from snapshot and plan alone, without the code that made it.
#pragma once

#include <string>
#include <vector>

#include "lib/core/plan.h"

namespace rubato::test {

/// "" if `shares` is a whole gang that satisfies `job` and all its hard constraints; otherwise what
/// is wrong.
std::string check_gang(const Snapshot& snapshot, const Job& job, const std::string& gpu_type,
                       const std::vector<NodeShare>& shares);

/// "" if the managed starts of `plan` fit together into the free resources (DESIGN P2, P3), every
/// started job may start, and explanations and starts agree; otherwise what is wrong.
std::string check_starts(const Snapshot& snapshot, const Plan& plan);

/// Assumes that every job ends at its time limit. "" if all reservations of `plan` with a start
/// find their shares free for their whole time, beside the plan's managed starts. Otherwise what is
/// wrong.
std::string check_reservations(const Snapshot& snapshot, const Plan& plan);

/// The cluster after the changes and the managed starts of `plan`, with the plan's memory. A
/// restart takes no time; as in slurmctld, a requeued job has another submit time.
Snapshot apply(const Snapshot& snapshot, const Plan& plan);

/// The cluster at `time`: jobs whose limit has passed have ended.
Snapshot advance(Snapshot snapshot, Seconds time);

/// The pending entry of a start or explanation; null if there is none.
const Job* pending_entry(const Snapshot& snapshot, const JobKey& key, const std::string& partition);

}  // namespace rubato::test
