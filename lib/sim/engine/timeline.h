// SPDX-License-Identifier: GPL-2.0-or-later
// What charts of a run show over time: GPUs held, jobs that wait, and which GPUs each job held.
#pragma once

#include <cstddef>
#include <vector>

#include "lib/sim/engine/cluster_shape.h"
#include "lib/sim/engine/metrics.h"

namespace rubato::sim {

/// Means over parts of a run that are equally long. An average over time is kept exactly: nothing
/// is sampled.
struct Timeline {
  double from = 0;              ///< s
  double bin = 0;               ///< length of a part, s; above 0
  std::vector<double> held;     ///< GPUs held, mean of each part; empty: the run recorded none
  std::vector<double> waiting;  ///< jobs that arrived and hold nothing, mean of each part
  int max_waiting = 0;          ///< at one time
  double held_gpu_seconds = 0;
};

/// Of `record` from `from` to `to` (above `from`) in `bins` parts (at least 1). A job that was
/// given up counts as waiting until it lost its GPUs for the last time; where it never had any, not
/// at all. Without segments, a job waits from its arrival to its first start.
[[nodiscard]] Timeline timeline(const RunMetrics& record, double from, double to, std::size_t bins);

/// A job on neighbouring rows for a while.
struct LaneBar {
  int job = 0;
  int lane = 0;   ///< the first row
  int lanes = 1;  ///< how many
  double from = 0;
  double to = 0;

  bool operator==(const LaneBar&) const = default;
};

/// Rows of a chart: one per GPU, nodes and types in the cluster's order.
struct Lanes {
  std::vector<LaneBar> bars;       ///< sorted by begin, then row
  double undrawn_gpu_seconds = 0;  ///< of allocations without a free row (a run grants too much)
  bool nodes_known = true;         ///< false: rows of a type are in an order made for the chart
};

/// Which GPU of its node a job held is not recorded: it gets the rows it had before, else a gap
/// that holds it whole, else the lowest that are free.
[[nodiscard]] Lanes lanes(const RunMetrics& record, const ClusterShape& cluster);

}  // namespace rubato::sim
