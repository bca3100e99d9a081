// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's records -> Snapshot.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "plugin/slurm/queue.h"

namespace rubato {

/// What stock backfill means to do with an unmanaged pending job.
struct StockPlan {
  Seconds start = 0;
  std::string nodes;  ///< hostlist
};

/// Reads snapshots. Keeps the last complete plan of stock backfill: a cycle clears start_time and
/// sched_nodes of all pending jobs and fills them in as it goes, so they are copied only while no
/// cycle is on.
class SnapshotReader {
 public:
  /// Everything but Snapshot::memory. With `may_write` under LockKind::kAct (the queue is built as
  /// schedule() does, which tests dependencies and limits); else under LockKind::kLook, and no
  /// field of any record changes.
  [[nodiscard]] Snapshot read(const Config& config, bool may_write);

 private:
  void refresh_stock_plans(const std::vector<QueueEntry>& queue, const Config& config);

  std::map<JobId, StockPlan> stock_plans_;
};

}  // namespace rubato
