// SPDX-License-Identifier: GPL-2.0-or-later
// Memory of a job beyond its requeues.
#pragma once

#include <optional>

#include "lib/core/snapshot.h"

namespace rubato {

/// A requeue gives a job a new submit time (slurmctld job_mgr.c, _job_requeue_op()), so a new key;
/// its id stays. The memory of `snapshot` with all that is remembered of the runs before moved to
/// the present key of each requeued job. Of several records of a job the last one is kept. nullopt
/// if nothing moves. A job that was never requeued takes nothing from an earlier one with its id.
[[nodiscard]] std::optional<Memory> follow_requeues(const Snapshot& snapshot);

}  // namespace rubato
