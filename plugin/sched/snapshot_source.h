// SPDX-License-Identifier: GPL-2.0-or-later
// Snapshots of slurmctld, taken under its locks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lib/base/clock.h"
#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "lib/runtime/user_names.h"
#include "plugin/common/pair.h"
#include "plugin/sched/pacer.h"
#include "plugin/slurm/read/records.h"
#include "plugin/slurm/read/snapshot_in.h"
#include "plugin/slurm/stock/controller.h"
#include "plugin/slurm/stock/locks.h"

namespace rubato {

/// Used by the loop's thread alone.
class SnapshotSource {
 public:
  SnapshotSource(Pair& pair, std::shared_ptr<const Clock> clock, const Pacer& pacer,
                 LockTimes& times)
      : pair_(pair), clock_(std::move(clock)), pacer_(pacer), times_(times), names_(clock_) {}

  /// Reads the jobs and nodes of slurmctld. `first`: no round was made from a snapshot yet. Empty
  /// while slurmctld shuts down, and where its records do not fit this build.
  [[nodiscard]] std::optional<Snapshot> take(const Config& config, bool first);

  /// Compares slurmctld's records with this build, unless that was done: until then the gate is
  /// open, and take() may wait before it looks. Takes slurmctld's locks.
  void check_records_early(const Config& config);

  /// The next take() reads everything anew.
  void read_all_next() { read_all_ = true; }
  /// A job, a node, a partition or the configuration changed since the last take().
  [[nodiscard]] bool is_outdated() const { return change_mark() != seen_; }
  /// The number of completing nodes changed since the last take(). Takes slurmctld's node lock.
  [[nodiscard]] bool completing_changed(const Config& config);
  /// Those of these jobs that ended by themselves (completed_jobs()). Takes slurmctld's locks if
  /// there are any.
  [[nodiscard]] std::vector<JobKey> completed(const std::vector<JobKey>& ended,
                                              const Config& config);
  [[nodiscard]] const RecordCheck& records() const { return records_; }

 private:
  bool check_records_once();
  [[nodiscard]] Depth look_depth(bool first);

  Pair& pair_;
  const std::shared_ptr<const Clock> clock_;
  const Pacer& pacer_;
  LockTimes& times_;
  SnapshotReader reader_;
  UserNames names_;
  ChangeMark seen_;      ///< at the last take()
  int coming_ = 0;       ///< completing nodes at the last take()
  RecordCheck records_;  ///< no text before the first comparison
  bool read_all_ = false;
  SteadyTime last_queue_{};  ///< the last look that built the whole queue
};

}  // namespace rubato
