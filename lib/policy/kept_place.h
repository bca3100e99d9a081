// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the place that is kept for a change of a running job, or for a start, can be had.
#pragma once

#include <vector>

#include "lib/core/snapshot.h"

namespace rubato {

/// Whether the planned place of a change can still be had: every node of it serves jobs, now or
/// soon, and has as many GPUs, cores and as much memory free, with what the job itself (unless it
/// runs on) and those of `after` hold, whose changes did not fail.
[[nodiscard]] bool has_place(const AskedResize& change, const Snapshot& snapshot,
                             const Memory& memory);

/// Whether all of `place` is free now. On a node where a job is completing Slurm starts no other.
[[nodiscard]] bool is_free(const std::vector<NodeShare>& place, const Snapshot& snapshot);

}  // namespace rubato
