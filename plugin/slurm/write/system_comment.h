// SPDX-License-Identifier: GPL-2.0-or-later
// A job's state -> its system_comment, where squeue, scontrol and Rubato's commands find it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/plan.h"
#include "lib/json/annotation.h"
#include "plugin/slurm/stock/locks.h"

namespace rubato {

/// Keeps the segments of managed jobs up to date: at once when a job is new, starts or changes
/// size, else at most once a minute. What is written is decided without locks; they are held in
/// slices of Config::lock_slice_ms, and `last_job_update` moves only if a job changed.
class SystemComments {
 public:
  void write(const Snapshot& snapshot, const Plan& plan, const Config& config, LockTimes& times);
  /// Takes the segments of pending jobs back: nobody keeps them true any more. Those of jobs that
  /// run stay, as a record of how Rubato started them.
  void clear(const Config& config, LockTimes& times);

 private:
  struct Written {
    JobAnnotation annotation;
    std::string text;
    JobState state = JobState::kPending;
    Seconds at = 0;
  };
  struct Change {
    JobKey job;
    std::string text;  ///< "" takes it back
  };

  [[nodiscard]] std::vector<Change> due(const Snapshot& snapshot, const Plan& plan,
                                        const Config& config);
  static void apply(const std::vector<Change>& changes, const Config& config, LockTimes& times);

  std::map<JobKey, Written> written_;
};

}  // namespace rubato
