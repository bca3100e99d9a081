// SPDX-License-Identifier: GPL-2.0-or-later
// Backfill by the rules of slurmctld, for the replay of a site's history.
#pragma once

#include <memory>

#include "lib/sim/engine/policy.h"

namespace rubato::sim {

/// sched/backfill of Slurm 22.05 with its default parameters, and priority/basic. Scheduling starts
/// jobs in order of arrival at each arrival and end, until one does not fit. A backfill pass, each
/// 30 s if something changed, gives each waiting job its earliest start by the time limits of
/// running jobs. A job that cannot start now reserves its nodes, whole, for its time limit.
[[nodiscard]] std::unique_ptr<Policy> make_slurm_backfill();

}  // namespace rubato::sim
