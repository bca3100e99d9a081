// SPDX-License-Identifier: GPL-2.0-or-later
// What a plan promises, checked from snapshot and plan alone with none of the code that made it.
#pragma once

#include <string>
#include <vector>

#include "lib/core/plan.h"

namespace rubato::test {

/// "" if `shares` is a whole gang that satisfies `job`, its hard constraints and nothing less;
/// otherwise what is wrong.
std::string check_gang(const Snapshot& snapshot, const Job& job, const std::string& gpu_type,
                       const std::vector<NodeShare>& shares);

/// "" if the managed starts of `plan` fit together into what is free (DESIGN P2, P3), no start is
/// of a job that must not start, and explanations and starts agree; otherwise what is wrong.
std::string check_starts(const Snapshot& snapshot, const Plan& plan);

/// "" if, with every job ending at its time limit, all reservations of `plan` with a start find
/// their shares free for their whole time beside the managed starts of the plan; otherwise what is
/// wrong.
std::string check_reservations(const Snapshot& snapshot, const Plan& plan);

/// The cluster after the managed starts of `plan`, with the plan's memory.
Snapshot apply(const Snapshot& snapshot, const Plan& plan);

/// The cluster at `time`: jobs whose limit has come by then have ended.
Snapshot advance(Snapshot snapshot, Seconds time);

/// The pending entry of a start or explanation; null if there is none.
const Job* pending_entry(const Snapshot& snapshot, const JobKey& key, const std::string& partition);

}  // namespace rubato::test
