// SPDX-License-Identifier: GPL-2.0-or-later
// Tiresias (Gu et al., NSDI 2019; "dlas-gpu") in the event loop of the simulator of Muri (Zhao et
// al., SIGCOMM 2022): three queues by attained service; running jobs go before waiting ones.
#pragma once

#include "lib/sim/engine/cluster_shape.h"
#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/run_control.h"
#include "lib/sim/engine/workload.h"

namespace rubato::sim {

/// True iterations take longer than in the trace by this factor.
inline constexpr double kMuriSlowdown = 1.015;

/// Seconds of start cost that the simulator subtracts from every running job at every event.
[[nodiscard]] double muri_overhead(const SimJob& job);
/// Seconds of a true iteration.
[[nodiscard]] double muri_iteration(const SimJob& job);

/// `jobs` come from read_muri_jobs(). As in the original, only the cluster's number of GPUs counts:
/// this policy ignores placement. A job larger than the cluster never runs; the replay ends when
/// only such jobs are left.
[[nodiscard]] RunMetrics replay_muri_tiresias(const JobList& jobs, const ClusterShape& cluster,
                                              const RunControl& control);

}  // namespace rubato::sim
