// SPDX-License-Identifier: GPL-2.0-or-later
// Tiresias (Gu et al., NSDI 2019; "dlas-gpu") in the event loop of the simulator of Muri (Zhao et
// al., SIGCOMM 2022): three queues by attained service, whoever runs stays before whoever waits.
#pragma once

#include "lib/sim/engine/cluster_shape.h"
#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/run_control.h"
#include "lib/sim/engine/workload.h"

namespace rubato::sim {

/// True iterations take this much longer than the trace says.
inline constexpr double kMuriSlowdown = 1.015;

/// Seconds of starting that the simulator takes off every running job at every event.
[[nodiscard]] double muri_overhead(const SimJob& job);
/// Seconds of a true iteration.
[[nodiscard]] double muri_iteration(const SimJob& job);

/// `jobs` are those of read_muri_jobs. Only the number of GPUs of the cluster counts, as in the
/// original: this policy places nothing. A job larger than the cluster never runs, and then the
/// replay ends when nothing else is left.
[[nodiscard]] RunMetrics replay_muri_tiresias(const JobList& jobs, const ClusterShape& cluster,
                                              const RunControl& control);

}  // namespace rubato::sim
