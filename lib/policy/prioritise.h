// SPDX-License-Identifier: GPL-2.0-or-later
// Stage 3: the order in which jobs are looked at.
#pragma once

#include <vector>

#include "lib/core/snapshot.h"

namespace rubato {

/// The pending entries in the order of this round: Slurm's own, which honours tiers, priorities
/// and job ids. Does not depend on the order in which the snapshot lists them.
[[nodiscard]] std::vector<const Job*> prioritise(const Snapshot& snapshot);

}  // namespace rubato
