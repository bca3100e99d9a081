// SPDX-License-Identifier: GPL-2.0-or-later
// Stage 7: what a plan may cost those who run.
#pragma once

#include <set>

#include "lib/core/snapshot.h"

namespace rubato {

/// Nothing that runs is touched, so all there is to guard is a job that runs and waits under one
/// key, which slurmctld is about to requeue.
class Budget {
 public:
  explicit Budget(const Snapshot& snapshot);

  /// An allocation of the job still runs.
  [[nodiscard]] bool runs(const JobKey& job) const { return running_.contains(job); }

 private:
  std::set<JobKey> running_;
};

}  // namespace rubato
