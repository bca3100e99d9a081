// SPDX-License-Identifier: GPL-2.0-or-later
// Memory of requeued jobs.
#pragma once

#include <optional>

#include "lib/core/snapshot.h"

namespace rubato {

/// A requeue gives a job a new submit time (slurmctld job_mgr.c, _job_requeue_op()), so a new key;
/// its id stays. Returns the memory of `snapshot` with service, progress, progress history,
/// sizes, holds and restarts of earlier runs under the present key of each requeued job, and with
/// the planned restarts counted whose jobs were requeued (restarts.h). If a job has several
/// records, the last one is kept. Returns nullopt if nothing changes. A job without requeues takes
/// no record of an earlier job with its id.
[[nodiscard]] std::optional<Memory> follow_requeues(const Snapshot& snapshot);

}  // namespace rubato
