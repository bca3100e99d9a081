// SPDX-License-Identifier: GPL-2.0-or-later
// The gate's decision on one placement test.
#pragma once

#include "plugin/select/gate.h"
#include "plugin/slurm/write/placement_test.h"

namespace rubato {

/// Asks `gate` about `test` and narrows the offered nodes accordingly. Returns false if slurmctld
/// must not ask stock select.
[[nodiscard]] bool admits(Gate& gate, const PlacementTest& test);

/// Whether to repair the records of a running job that loses a node (LostNode). Also before the
/// loop has started, for a node may fail at any time.
[[nodiscard]] bool repairs_resized(const Gate& gate);

/// Whether to merge jobs in stock Slurm's place (merge_jobs()), and to repair jobs after a restart.
[[nodiscard]] bool merges_jobs(const Gate& gate);

}  // namespace rubato
