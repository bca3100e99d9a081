// SPDX-License-Identifier: GPL-2.0-or-later
// Stage 3: attained service, and the level that follows from it.
#pragma once

#include <vector>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "lib/model/models.h"

namespace rubato {

/// A job that is not to be seen has ended, or was requeued and is not eligible yet: Slurm makes it
/// so two minutes later (AuthInfo=cred_expire), an admin perhaps later still. Nobody can tell
/// which, so it is remembered for so long.
inline constexpr Seconds kRequeueTime = 900;

/// The service of every managed job with GPUs, brought forward from the memory of the snapshot to
/// `now`, with the level of this round (levels.h); sorted by key. Service counts GPU-seconds, each
/// weighted with the speed of its type relative to the fastest type of the cluster.
[[nodiscard]] std::vector<Service> update_service(const Snapshot& snapshot, const Models& models,
                                                  const Config& config, Seconds now);

/// The job has run until `ended`, and now holds nothing.
void end_run(Service& service, Seconds ended);

}  // namespace rubato
