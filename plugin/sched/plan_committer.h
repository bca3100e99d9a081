// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a plan into slurmctld: starts, reservations, and what users see of it.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "lib/base/clock.h"
#include "lib/config/config.h"
#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "plugin/actuate/commit.h"
#include "plugin/common/pair.h"
#include "plugin/sched/pacer.h"
#include "plugin/slurm/stock/locks.h"
#include "plugin/slurm/write/system_comment.h"
#include "plugin/slurm/write/write_back.h"

namespace rubato {

/// Used by the loop's thread alone.
class PlanCommitter {
 public:
  PlanCommitter(Pair& pair, std::shared_ptr<const Clock> clock, const Pacer& pacer,
                LockTimes& times)
      : pair_(pair),
        clock_(std::move(clock)),
        pacer_(pacer),
        times_(times),
        began_time_(clock_->now()) {}

  /// Starts the jobs of `plan` and notes refusals in its memory. A `full` cycle also writes to the
  /// pending jobs; others only update the reservations of the gate, if they differ from those of
  /// `before`.
  void commit(const Snapshot& snapshot, Plan& plan, const Config& config, const Memory& before,
              bool full);
  /// Removes from jobs what earlier commits wrote into them.
  void withdraw(const Config& config);
  /// The same for what the process before this one wrote.
  void withdraw_of_others(const Config& config) { SystemComments::clear_all(config, times_); }
  /// Since the loop began.
  [[nodiscard]] const CommitCount& counts() const { return counts_; }

 private:
  void drop_unsettled(const Snapshot& snapshot, Plan& plan, const Config& config);
  void wait_for_quiet(const Config& config) const;

  Pair& pair_;
  const std::shared_ptr<const Clock> clock_;
  const Pacer& pacer_;
  LockTimes& times_;
  const Seconds began_time_;
  /// Of the first commit. The loop begins inside read_slurm_conf(), but gets its locks only when
  /// slurmctld has recovered its jobs.
  std::optional<SteadyTime> recovered_;
  /// A job with a node that has not registered, or that registered lately.
  struct Settling {
    SteadyTime since;
    bool waits = false;
  };
  std::map<JobKey, Settling> unsettled_;
  WriteBack write_back_;
  SystemComments comments_;
  BusyTries busy_;
  CommitCount counts_;
};

}  // namespace rubato
