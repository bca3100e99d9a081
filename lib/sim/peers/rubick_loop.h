// SPDX-License-Identifier: GPL-2.0-or-later
// The loop of Rubick's simulator.
#pragma once

#include "lib/sim/engine/cluster_shape.h"
#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/run_control.h"
#include "lib/sim/engine/workload.h"
#include "lib/sim/peers/rubick_tables.h"

namespace rubato::sim {

/// Rounds of 60 s; a change of shape costs 260 s, the first start too. Shapes are compared by the
/// GPUs on each node: a move alone costs nothing.
///
/// `phantom`: as the artifact has it, a job whose GPUs were all taken keeps its old shape and runs
/// on at full speed, on GPUs that others hold. Else it stops, which is all that differs.
///
/// `jobs` are those of read_rubick_jobs, `cluster` has one group. Errors: an application that is
/// not known or was not measured, another cluster.
[[nodiscard]] Result<RunMetrics> replay_rubick(const JobList& jobs, const ClusterShape& cluster,
                                               const RubickTimes& times, bool phantom,
                                               const RunControl& control);

}  // namespace rubato::sim
