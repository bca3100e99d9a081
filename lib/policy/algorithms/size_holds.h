// SPDX-License-Identifier: GPL-2.0-or-later
// Running jobs whose size the round does not change because somebody asked for that.
#pragma once

#include <set>
#include <vector>

#include "lib/core/snapshot.h"
#include "lib/hints/message.h"

namespace rubato {

/// The hold of a job that is in effect at `now`; null: none.
[[nodiscard]] const SizeHold* hold_of(const Memory& memory, const JobKey& job, Seconds now);

/// Takes in what `uid` asks for at `now`: a hold in the place of an earlier one, or its end.
void fold_hold(const JobKey& job, std::uint32_t uid, const HoldSize& asked, Seconds now,
               Memory& memory);

/// The holds of jobs among `remembered` that are not over at `now`; sorted by key.
[[nodiscard]] std::vector<SizeHold> kept_holds(const Memory& memory,
                                               const std::set<JobKey>& remembered, Seconds now);

}  // namespace rubato
