// SPDX-License-Identifier: GPL-2.0-or-later
// Plays jobs through round(): a discrete-event simulation without Slurm. Time goes from event to
// event (a job may start, a run ends); at each, one round decides, and its starts are made as
// slurmctld would make them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/model/models.h"

namespace rubato::sim {

/// A job that comes. `job` is as a snapshot has it while it waits; state, rank and block are the
/// simulation's own.
struct JobArrival {
  Job job;
  Seconds enters = 0;  ///< from when on it may start
};

/// A run that is on when the simulation begins. Nothing is decided about it.
struct RunningAtStart {
  Job job;  ///< with `allocation`, `start` and `time_limit`
  Seconds ends = 0;
};

/// The simulated workload.
struct SimulationInput {
  /// Nodes, node sets, partitions and memory at the begin. What the nodes have free does not
  /// count (all of it is, but for the holders), nor do jobs.
  Snapshot cluster;
  std::vector<JobArrival> arrivals;  ///< in any order
  std::vector<RunningAtStart> holders;
  Seconds begin = 0;
};

/// Seconds for which a job holds its allocation; cut at its time limit, at least 1.
using RunTime = std::function<Seconds(const Job& job, const Start& start)>;

/// One run of one job.
struct CompletedRun {
  JobKey job;
  std::string partition;
  Seconds start = 0;
  Seconds end = 0;
  std::string gpu_type;  ///< "" without GPUs and where Slurm itself chose
  int gpus = 0;
  std::vector<NodeShare> shares;

  bool operator==(const CompletedRun&) const = default;
};

struct SimulationOutcome {
  std::vector<CompletedRun> runs;  ///< in the order of their starts
  std::vector<JobKey> waited;      ///< never started, in the order of Slurm's queue
  std::int64_t rounds = 0;
  std::int64_t refused = 0;  ///< starts on nodes of the plan that found no room
  bool complete = true;      ///< false: it ended at `max_rounds`

  bool operator==(const SimulationOutcome&) const = default;
};

struct SimulationBounds {
  std::int64_t max_rounds = 100'000;
};

/// Pure: same input, same outcome. Two arrivals with the same key are one job that runs twice: the
/// second enters when the first has ended. Arrivals start in Slurm's order (tier, priority, id)
/// where round() leaves it so. A job without a place in the cluster waits for ever.
[[nodiscard]] SimulationOutcome simulate(const SimulationInput& workload, const Models& models,
                                         const Config& config, const RunTime& run_time,
                                         const SimulationBounds& bounds = {});

}  // namespace rubato::sim
