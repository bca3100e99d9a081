// SPDX-License-Identifier: GPL-2.0-or-later
// Metrics of the cluster and its queue by GPU type.
#pragma once

#include <vector>

#include "lib/core/snapshot.h"
#include "tools/rubato/stats/metric_text.h"

namespace rubato::tools {

/// Label gpu_type of jobs whose request leaves the type open, and of reservations without GPUs.
inline constexpr const char* kAnyType = "any";
inline constexpr const char* kNoType = "none";

/// GPUs by type: total, held, free, and, with `jobs_known`, held by managed jobs and asked for,
/// with the longest wait. Nothing where PrivateData hides the nodes.
void add_queue_metrics(MetricText& text, const Snapshot& snapshot, bool jobs_known);

/// Promised starts of waiting jobs that are kept and that have moved, by GPU type, and the longest
/// delay.
void add_promise_metrics(MetricText& text, const std::vector<Reservation>& reservations);

}  // namespace rubato::tools
