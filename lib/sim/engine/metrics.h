// SPDX-License-Identifier: GPL-2.0-or-later
// What a simulated run gave, and the figures made of it.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace rubato::sim {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// What became of a job.
struct JobResult {
  double arrival = 0;
  double first_start = kNever;  ///< kNever: it never ran
  double finish = kNever;       ///< kNever: not finished
  bool dropped = false;         ///< given up without a completion time
  int restarts = 0;             ///< starts and changes after the first start
  double gpu_seconds = 0;       ///< held
  double ideal_s = kNever;      ///< alone on its fastest type

  [[nodiscard]] double jct() const { return finish - arrival; }
  [[nodiscard]] bool finished() const { return finish < kNever; }
};

/// Some GPUs of a node held by a job for a while: for charts, and for tests of overlap.
struct AllocationInterval {
  int job = 0;   ///< of the workload
  int type = 0;  ///< of the cluster's groups
  int node = 0;  ///< of its group, from 0; -1: the loop knows no nodes
  int gpus = 0;
  double from = 0;
  double to = 0;

  bool operator==(const AllocationInterval&) const = default;
};

/// Record of a replay or an engine run.
struct RunMetrics {
  std::vector<JobResult> jobs;                ///< one for each job of the workload, in its order
  double end = 0;                             ///< the clock when it stopped
  double busy_gpu_seconds = 0;                ///< GPUs at work, costs of starting included
  std::vector<double> round_ms;               ///< wall time of each decision; not reproducible
  std::vector<AllocationInterval> intervals;  ///< only where they were asked for
  bool cut = false;                           ///< it was stopped before its end
  bool stalled = false;                       ///< it stopped with jobs that cannot go on
  double last_end = kNever;  ///< when the last job ended that did; kNever: none, or not said
  bool learned = false;      ///< its policy knew reports only, not the truth

  /// Until when anything happened: `end`, but of a stalled run, whose clock went on with the
  /// policy's timers, the last end or arrival of a job.
  [[nodiscard]] double last_event() const;
};

/// Over the jobs `first`..`last` of a suite's window (last is past the end).
struct Window {
  std::size_t first = 0;
  std::size_t last = static_cast<std::size_t>(-1);
};

/// The figures of issue: percentiles by linear interpolation, over finished jobs of the window.
/// NaN where nothing was finished.
struct Metrics {
  int jobs = 0;
  int finished = 0;
  double avg_jct_s = 0;
  double p50_jct_s = 0;
  double p99_jct_s = 0;
  double ideal_avg_jct_s = 0;   ///< mean of ideal_s over the window's jobs that can run at all
  double ideal_finished_s = 0;  ///< the same of those that finished, as avg_jct_s is
  double makespan_s = 0;        ///< last end of all jobs less `origin`; NaN: stalled before any
  double gpu_utilisation = 0;   ///< busy / (GPUs x makespan)
  double gpu_hours_per_job = 0;
  double restarts_per_job = 0;
  double round_ms_mean = 0;
  double round_ms_p99 = 0;
  double jain = 0;  ///< Jain's index of ideal / completion time: 1 where all are slowed alike
};

/// `gpus` of the cluster. `origin` is where the makespan begins: the first arrival, or 0.
[[nodiscard]] Metrics measure(const RunMetrics& record, Window window, int gpus, double origin);

/// The mean of each figure; numbers of jobs to the nearest. `all` is not empty.
[[nodiscard]] Metrics mean_of(const std::vector<Metrics>& all);

}  // namespace rubato::sim
