// SPDX-License-Identifier: GPL-2.0-or-later
// The reason of a waiting job in one word, as squeue shows reasons.
#pragma once

#include "lib/policy/algorithms/entry_outcome.h"
#include "lib/policy/algorithms/reservation_table.h"

namespace rubato {

/// Without blanks, numbers or names of other jobs: scripts split on blanks, exporters label by the
/// reason, and every user may read it. docs/guide/user-guide.md lists all. `booked` is the job's
/// reservation, null without one. "" where Slurm's own reason says it.
[[nodiscard]] const char* squeue_reason(const EntryOutcome& outcome,
                                        const BookedReservation* booked);

}  // namespace rubato
