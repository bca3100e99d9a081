// SPDX-License-Identifier: GPL-2.0-or-later
// Which runs are recorded, so that `rubato report` can play them again: those on nodes of managed
// partitions.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "lib/runtime/running_jobs.h"
#include "lib/store/records.h"

namespace rubato {

class RunLog {
 public:
  /// What to store after a snapshot, which is already in `running_jobs`. What is new in it began in
  /// `mode`.
  [[nodiscard]] std::vector<store::RunRecord> update(const Snapshot& snapshot,
                                                     const RunningJobs::RunChanges& change,
                                                     RunningJobs& running_jobs, Mode mode);

 private:
  void follow_blocks(const Snapshot& snapshot);

  std::map<JobKey, Seconds> blocked_;        ///< waiting jobs: when Slurm last held them back
  std::set<std::pair<JobKey, Seconds>> on_;  ///< recorded runs that have not ended, by their start
};

}  // namespace rubato
