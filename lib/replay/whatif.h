// SPDX-License-Identifier: GPL-2.0-or-later
// What a job would get if it were submitted now: plays the queue of a snapshot through round(),
// with and without the job.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "lib/model/models.h"
#include "lib/replay/simulate.h"

namespace rubato {

/// Bounds of what is played: rounds, and decisions about one job in one round. The second takes
/// about a second.
inline constexpr std::int64_t kMaxWhatIfRounds = 1000;
inline constexpr std::int64_t kMaxWhatIfDecisions = 100'000;

/// What would become of a job. Times in Unix seconds; 0: not known, since that is beyond the bounds
/// or behind a job without a time limit.
struct WhatIfOutcome {
  Seconds start = 0;   ///< if all jobs run for as long as expected
  Seconds latest = 0;  ///< start, if all jobs run to their time limits; not before `start`
  Seconds end = 0;     ///< expected; its time limit where nothing is known of its run time
  bool told = false;   ///< `end` follows from its work and the models
  std::string gpu_type;
  int gpus = 0;
  std::vector<std::string> nodes;
  double gpu_hours = 0;
  int delayed = 0;    ///< jobs that start later because of it
  Seconds delay = 0;  ///< by how much these start later, in all
  int displaced = 0;  ///< jobs with a start without it, and none with it

  bool operator==(const WhatIfOutcome&) const = default;
};

/// The queue of one snapshot, into which jobs are put one at a time.
class WhatIf {
 public:
  /// `now`: as published. Jobs that Slurm blocks are left out, since nobody knows until when; of a
  /// job in several partitions the first entry alone is played. Nothing else arrives. What nodes
  /// have in use beside the jobs listed (PrivateData) stays in use.
  WhatIf(const Snapshot& now, Models models, const Config& config);

  /// `asked`: pending, with a priority; whatever its id, it comes behind the others of its
  /// priority. Deterministic.
  [[nodiscard]] WhatIfOutcome of(const Job& asked) const;

  /// Pending jobs that are left out.
  [[nodiscard]] int blocked() const { return blocked_; }
  /// Pending jobs that are played.
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
