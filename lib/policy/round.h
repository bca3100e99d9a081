// SPDX-License-Identifier: GPL-2.0-or-later
// The one function that decides. slurmctld, the simulator, `whatif` and the tests call it.
#pragma once

#include "lib/config/config.h"
#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/model/models.h"

namespace rubato {

/// Decides for all jobs of `snapshot` together. Pure: same input, same plan. No locks, no clock, no
/// I/O; the caller enforces the deadline.
///
/// `now` is the time of the decision, Unix seconds; it may be later than `snapshot.taken`. The
/// caller fills in the plan's fingerprints if it writes the plan out.
[[nodiscard]] Plan round(const Snapshot& snapshot, const Models& models, const Config& config,
                         Seconds now);

}  // namespace rubato
