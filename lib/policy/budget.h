// SPDX-License-Identifier: GPL-2.0-or-later
// Stage budget: which running jobs a plan must leave alone.
#pragma once

#include <set>
#include <utility>

#include "lib/core/snapshot.h"

namespace rubato {

/// No plan changes a running job yet. What remains to check is a job that is pending while an
/// allocation of it still runs: slurmctld is about to requeue it.
class Budget {
 public:
  explicit Budget(std::set<JobKey> running) : running_(std::move(running)) {}

  /// An allocation of the job still runs.
  [[nodiscard]] bool runs(const JobKey& job) const { return running_.contains(job); }

 private:
  std::set<JobKey> running_;
};

/// The budget of a round on `snapshot`.
[[nodiscard]] Budget budget_of(const Snapshot& snapshot);

}  // namespace rubato
