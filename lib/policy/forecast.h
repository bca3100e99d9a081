// SPDX-License-Identifier: GPL-2.0-or-later
// Stage 2, what a job itself says of its speed and of the work it still has to do.
#pragma once

#include <optional>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "lib/model/throughput.h"

namespace rubato {

/// Whose measurements tell of the job; an empty job_type for one that names none.
[[nodiscard]] ProfileName profile_of(const Job& job, const Config& config);

/// Samples still to do, at least 1; empty when the job does not say how many there are.
[[nodiscard]] std::optional<double> samples_left(const Snapshot& snapshot, const Job& job);

/// Seconds until a running job ends: by its own rate where it reports one, else as long again as it
/// has run so far (at least a minute); never beyond its time limit, at least 1.
[[nodiscard]] double seconds_left(const Snapshot& snapshot, const Job& job, Seconds now);

}  // namespace rubato
