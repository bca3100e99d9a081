// SPDX-License-Identifier: GPL-2.0-or-later
// The loop of Rubick's simulator.
#pragma once

#include "lib/sim/engine/cluster_shape.h"
#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/run_control.h"
#include "lib/sim/engine/suite.h"
#include "lib/sim/engine/workload.h"
#include "lib/sim/peers/rubick_tables.h"

namespace rubato::sim {

/// Rounds of 60 s; a change of shape costs 260 s, the first start too. A shape is the list of GPUs
/// per node: a move that keeps it costs nothing.
///
/// `phantom`: as in the artifact, a job that lost all GPUs keeps its old shape. It runs on at full
/// speed, on GPUs that other jobs hold. Otherwise it stops; this is the only difference.
///
/// `jobs` come from read_rubick_jobs(); `cluster` has one group. Errors: an unknown or unmeasured
/// application, another cluster.
[[nodiscard]] Result<RunMetrics> replay_rubick(const JobList& jobs, const ClusterShape& cluster,
                                               const RubickTimes& times, bool phantom,
                                               const RunControl& control);

/// The same loop, without phantom GPUs, with a policy of the engine. Jobs run where rubick_nodes()
/// allows; without such nodes they wait for the next round.
[[nodiscard]] Result<RunMetrics> replay_rubick_guest(const Suite& suite, const RubickTimes& times,
                                                     Policy& policy, const RunControl& control);

}  // namespace rubato::sim
