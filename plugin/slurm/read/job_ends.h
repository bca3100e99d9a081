// SPDX-License-Identifier: GPL-2.0-or-later
// How jobs ended, as long as slurmctld keeps them (MinJobAge).
#pragma once

#include <vector>

#include "lib/base/units.h"

namespace rubato {

/// Those of `ended` that ended by themselves with exit code 0. Left out are jobs that were
/// cancelled, ran into their time limit, failed or were requeued, and those that slurmctld has
/// forgotten. Needs LockKind::kLook.
[[nodiscard]] std::vector<JobKey> completed_jobs(const std::vector<JobKey>& ended);

}  // namespace rubato
