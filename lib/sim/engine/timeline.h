// SPDX-License-Identifier: GPL-2.0-or-later
// Data for charts of a run over time: GPUs held, waiting jobs, and the GPUs of each job.
#pragma once

#include <cstddef>
#include <vector>

#include "lib/sim/engine/cluster_shape.h"
#include "lib/sim/engine/metrics.h"

namespace rubato::sim {

/// Means over equally long bins of a run. Means are exact: nothing is sampled.
struct Timeline {
  double from = 0;              ///< s
  double bin = 0;               ///< length of a bin, s; above 0
  std::vector<double> held;     ///< GPUs held, mean of each bin; empty: not recorded
  std::vector<double> waiting;  ///< arrived jobs without GPUs, mean of each bin
  int max_waiting = 0;          ///< maximum at one time
  double held_gpu_seconds = 0;
};

/// Makes the timeline of `record` from `from` to `to` (above `from`) in `bins` bins (at least 1). A
/// job that was given up counts as waiting until it last lost its GPUs. If it never had GPUs, it
/// does not count. Without intervals, a job waits from its arrival to its first start.
[[nodiscard]] Timeline timeline(const RunMetrics& record, double from, double to, std::size_t bins);

/// A row of a chart.
using LaneIndex = Index<struct LaneTag>;

/// A job on adjacent rows for a period.
struct LaneBar {
  JobIndex job = 0;
  LaneIndex lane = 0;  ///< the first row
  int lanes = 1;       ///< number of rows
  double from = 0;
  double to = 0;

  bool operator==(const LaneBar&) const = default;
};

/// Rows of a chart: one per GPU, in the cluster's order of nodes and types.
struct Lanes {
  std::vector<LaneBar> bars;       ///< sorted by start, then row
  double undrawn_gpu_seconds = 0;  ///< of allocations without a free row (the run granted too much)
  bool nodes_known = true;         ///< false: the order of a type's rows was made for the chart
};

/// Assigns rows. Runs do not record which GPU of a node a job held. A job gets its previous rows,
/// else a gap that holds it whole, else the lowest free rows.
[[nodiscard]] Lanes lanes(const RunMetrics& record, const ClusterShape& cluster);

}  // namespace rubato::sim
