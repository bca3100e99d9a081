// SPDX-License-Identifier: GPL-2.0-or-later
// The one function that decides. slurmctld, the simulator, `whatif` and the tests call it.
#pragma once

#include "lib/config/config.h"
#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/model/models.h"

namespace rubato {

/// Plan::snapshot_fingerprint takes the JSON of the whole snapshot, models_fingerprint that of the
/// models: who publishes few of its plans fills them in for those.
enum class Fingerprint { kTake, kLeave };

/// Decides for all jobs of `snapshot` together: predict, prioritise, size, place, reserve, budget,
/// explain. Pure: same input, same plan. `now` is the time of the decision; it may be later than
/// `snapshot.taken`. No locks, no clock, no I/O; the caller has the deadline.
[[nodiscard]] Plan round(const Snapshot& snapshot, const Models& models, const Config& config,
                         Seconds now, Fingerprint fingerprint = Fingerprint::kTake);

}  // namespace rubato
