// SPDX-License-Identifier: GPL-2.0-or-later
// What TestInject makes the loop do to running jobs.
#pragma once

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "plugin/slurm/stock/locks.h"

namespace rubato {

/// shrink-to and check-gres of TestInject; does nothing without these. Takes slurmctld's locks.
void act_for_tests(const Snapshot& snapshot, const Config& config, LockTimes& times);

}  // namespace rubato
