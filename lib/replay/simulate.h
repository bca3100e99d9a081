// SPDX-License-Identifier: GPL-2.0-or-later
// Runs jobs through round(): a discrete-event simulation without Slurm. At each event (a job may
// start, a run ends) one round decides. Starts are made as slurmctld would make them; changes of
// running jobs too, if asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/model/models.h"

namespace rubato::sim {

/// An arriving job. `job` is a pending job as in a snapshot; the simulation sets state, rank and
/// block.
struct JobArrival {
  Job job;
  Seconds enters = 0;  ///< time from which it may start
};

/// A run in progress at the start of the simulation. Rounds do not change it, whatever its hints.
struct RunningAtStart {
  Job job;  ///< with `allocation`, `start` and `time_limit`
  Seconds ends = 0;
};

/// The simulated workload.
struct SimulationInput {
  /// Nodes, node sets, partitions and memory at the start. Free resources are ignored (everything
  /// is free, except for the running jobs), as are jobs.
  Snapshot cluster;
  std::vector<JobArrival> arrivals;  ///< in any order
  std::vector<RunningAtStart> holders;
  Seconds begin = 0;
};

/// Seconds for which a job holds its allocation if nothing changes; the simulation ends it at its
/// time limit, and after 1 s at the earliest. Of a job that changes, each allocation does so much
/// of its work as the time in it is of its own run time.
using RunTime = std::function<Seconds(const Job& job, const Start& start)>;

/// One run of one job, restarts by Rubato included.
struct CompletedRun {
  JobKey job;
  std::string partition;
  Seconds start = 0;     ///< its first
  Seconds end = 0;       ///< its last; 0: it was interrupted and has not started again
  std::string gpu_type;  ///< "" without GPUs, or if Slurm itself chose; this and the next: the last
  int gpus = 0;
  std::vector<NodeShare> shares;
  int restarts = 0;  ///< how often it was interrupted
  int resizes = 0;   ///< how often its GPUs changed while it ran

  bool operator==(const CompletedRun&) const = default;
};

struct SimulationOutcome {
  std::vector<CompletedRun> runs;  ///< sorted by start
  std::vector<JobKey> waited;      ///< not started, or not again, in the order of Slurm's queue
  std::int64_t rounds = 0;
  std::int64_t refused = 0;  ///< starts on planned nodes that had no room
  bool complete = true;      ///< false: stopped at a bound
  Seconds until = 0;         ///< time of the last event that was played

  bool operator==(const SimulationOutcome&) const = default;
};

struct SimulationBounds {
  std::int64_t max_rounds = 100'000;
  std::optional<JobKey> until_start{};    ///< stops when this job has started
  std::int64_t max_decisions = kForever;  ///< decisions about one job in one round
  /// Makes the changes of running jobs that a round decides (mode elastic). Rounds then also decide
  /// while jobs wait: when a running job may be changed from then on, and every ten minutes.
  bool changes = false;
};

/// Deterministic. Two arrivals with the same key are one job that runs twice: the second enters
/// when the first has ended. Jobs start in Slurm's order (tier, priority, id) unless round()
/// changes it. A job that fits nowhere waits forever.
[[nodiscard]] SimulationOutcome simulate(const SimulationInput& workload, const Models& models,
                                         const Config& config, const RunTime& run_time,
                                         const SimulationBounds& bounds = {});

}  // namespace rubato::sim
