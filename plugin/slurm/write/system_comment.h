// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a job's state to its system_comment, which squeue, scontrol and Rubato's commands read.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/plan.h"
#include "lib/json/annotation.h"
#include "plugin/slurm/stock/locks.h"

namespace rubato {

/// Updates the annotations of managed jobs: immediately if a job is new, starts, changes size, or
/// has its first report or forecast, else at most once per minute. Computes the texts without
/// locks, then writes them in lock slices of Config::lock_slice_ms. Sets `last_job_update` only if
/// a job changed.
class SystemComments {
 public:
  void write(const Snapshot& snapshot, const Plan& plan, const Config& config, LockTimes& times);
  /// Removes the annotations of pending jobs, because they are no longer updated. Running jobs keep
  /// theirs as a record of the start.
  void clear(const Config& config, LockTimes& times);
  /// The same for annotations that another process wrote.
  static void clear_all(const Config& config, LockTimes& times);

 private:
  struct Written {
    JobAnnotation annotation;
    std::string text;
    JobState state = JobState::kPending;
    Seconds at = 0;
  };
  struct Change {
    JobKey job;
    std::string text;  ///< "" removes the annotation
  };

  [[nodiscard]] std::vector<Change> due(const Snapshot& snapshot, const Plan& plan,
                                        const Config& config);
  static void apply(const std::vector<Change>& changes, const Config& config, LockTimes& times);

  std::map<JobKey, Written> written_;
};

}  // namespace rubato
