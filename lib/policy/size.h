// SPDX-License-Identifier: GPL-2.0-or-later
// Stage 4: at what size a job runs.
#pragma once

#include "lib/core/job.h"

namespace rubato {

/// The request the job is placed with: its own, brought into the ranges that placement counts on
/// (at least one node, a GPU quantum of at least one).
[[nodiscard]] Request size_of(const Job& job);

}  // namespace rubato
