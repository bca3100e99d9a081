// SPDX-License-Identifier: GPL-2.0-or-later
// Results of a simulated run, and the metrics computed from them.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "lib/sim/engine/cluster_shape.h"
#include "lib/sim/engine/information.h"
#include "lib/sim/engine/workload.h"

namespace rubato::sim {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// The result of one job.
struct JobResult {
  double arrival = 0;
  double first_start = kNever;  ///< kNever: it never ran
  double finish = kNever;       ///< kNever: not finished
  bool dropped = false;         ///< given up without a completion time
  int restarts = 0;             ///< starts and changes after the first start
  double gpu_seconds = 0;       ///< GPU-seconds held
  double ideal_s = kNever;      ///< time when alone on its fastest type

  [[nodiscard]] double jct() const { return finish - arrival; }
  [[nodiscard]] bool finished() const { return finish < kNever; }
};

/// A job holds some GPUs of a node for a period: for charts and for overlap tests.
struct AllocationInterval {
  JobIndex job = 0;
  TypeIndex type = 0;
  GroupNodeIndex node = 0;  ///< not valid(): the loop does not track nodes
  int gpus = 0;
  double from = 0;
  double to = 0;

  bool operator==(const AllocationInterval&) const = default;
};

/// Record of a replay or an engine run.
struct RunMetrics {
  std::vector<JobResult> jobs;                ///< one per job of the workload, in workload order
  double end = 0;                             ///< simulated time at which the run stopped
  double busy_gpu_seconds = 0;                ///< GPU-seconds of allocated GPUs, start costs
                                              ///< included
  std::vector<double> round_ms;               ///< wall time of each decision; not reproducible
  std::vector<AllocationInterval> intervals;  ///< only if requested
  bool cut = false;                           ///< stopped before its end
  bool stalled = false;                       ///< stopped with jobs that cannot make progress
  double last_end = kNever;  ///< time of the last job end; kNever: none, or unknown
  Information information = Information::kKnown;  ///< what the policy was told
  std::string rules;                              ///< whose loop: Suite::rules_name, or "engine"

  /// Time of the last event: `end`, or for a stalled run the last end or arrival of a job.
  [[nodiscard]] double last_event() const;
};

/// The jobs of a suite's window, [first, last).
struct Window {
  std::size_t first = 0;
  std::size_t last = std::numeric_limits<std::size_t>::max();

  [[nodiscard]] bool contains(std::size_t job) const { return first <= job && job < last; }
};

/// The metrics of a run. Percentiles use linear interpolation over finished jobs of the window. NaN
/// if no job finished.
struct Metrics {
  int jobs = 0;
  int finished = 0;
  double avg_jct_s = 0;
  double p50_jct_s = 0;
  double p99_jct_s = 0;
  double ideal_avg_jct_s = 0;   ///< mean of ideal_s over jobs of the window that can run at all
  double ideal_finished_s = 0;  ///< mean of ideal_s over finished jobs, the jobs of avg_jct_s
  double makespan_s = 0;        ///< last end of all jobs minus `origin`; NaN: stalled before any
                                ///< end
  double gpu_utilisation = 0;   ///< busy / (GPUs x makespan)
  double gpu_hours_per_job = 0;
  double restarts_per_job = 0;
  double round_ms_mean = 0;
  double round_ms_p99 = 0;
  double jain = 0;  ///< Jain's index of ideal / completion time: 1 if all jobs are slowed equally
};

/// `gpus`: GPUs of the cluster. `origin`: start of the makespan, the first arrival or 0.
[[nodiscard]] Metrics measure(const RunMetrics& record, Window window, int gpus, double origin);

/// The mean of each metric; job counts are rounded to the nearest integer. `all` must not be empty.
[[nodiscard]] Metrics mean_of(const std::vector<Metrics>& all);
/// The sample standard deviation of each metric; job counts stay 0. NaN with fewer than two.
[[nodiscard]] Metrics spread_of(const std::vector<Metrics>& all);

}  // namespace rubato::sim
