// SPDX-License-Identifier: GPL-2.0-or-later
// When a job would start and end if it were submitted now: simulates the queue of a snapshot with
// round(), with and without the job.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "lib/model/models.h"
#include "lib/replay/simulate.h"

namespace rubato {

/// Bounds of a simulation: rounds, and jobs considered over all rounds. The second bound is reached
/// in about a second.
inline constexpr std::int64_t kMaxWhatIfRounds = 1000;
inline constexpr std::int64_t kMaxWhatIfDecisions = 100'000;

/// Simulated start and end of a job. Times in Unix seconds; 0: unknown, beyond the bounds or behind
/// a job without a time limit.
struct WhatIfOutcome {
  Seconds start = 0;   ///< if all jobs run for as long as expected
  Seconds latest = 0;  ///< start, if all jobs run to their time limits; not before `start`
  Seconds end = 0;     ///< expected; its time limit where nothing is known of its run time
  bool told = false;   ///< `end` follows from its stated work and its forecast throughput
  std::string gpu_type;
  int gpus = 0;
  std::vector<std::string> nodes;
  double gpu_hours = 0;
  int delayed = 0;    ///< jobs that start later because of it
  Seconds delay = 0;  ///< sum of their delays
  int displaced = 0;  ///< jobs that start in the simulation without it, but not with it

  bool operator==(const WhatIfOutcome&) const = default;
};

/// Simulates the queue of one snapshot with one further job at a time.
class WhatIf {
 public:
  /// `now`: as published. Leaves out jobs that Slurm blocks, since the end of the block is unknown.
  /// A job in several partitions waits in the first only. No other job arrives. Resources in use by
  /// jobs that are not listed (PrivateData) stay in use.
  WhatIf(const Snapshot& now, Models models, const Config& config);

  /// `asked`: pending, with a priority. Jobs of the same priority go before it. Deterministic.
  [[nodiscard]] WhatIfOutcome of(const Job& asked) const;

  /// Pending jobs that are left out.
  [[nodiscard]] int blocked() const { return blocked_; }
  /// Pending jobs in the simulation.
  [[nodiscard]] int waiting() const { return static_cast<int>(input_.arrivals.size()); }

 private:
  void note_run(const Job& job, const sim::CompletedRun& run, WhatIfOutcome& out) const;
  [[nodiscard]] sim::SimulationOutcome play(const Job* job, bool to_limits) const;

  Models models_;
  Config config_;
  Snapshot now_;
  sim::SimulationInput input_;
  std::map<JobKey, Seconds> alone_;  ///< expected starts without a further job
  int blocked_ = 0;
};

}  // namespace rubato
