// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's records -> Snapshot.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "plugin/slurm/read/job_cache.h"
#include "plugin/slurm/read/job_hints.h"
#include "plugin/slurm/read/node_classes.h"
#include "plugin/slurm/read/queue.h"

namespace rubato {

/// How much of the jobs a look reads.
enum class Depth {
  kLight,  ///< what changed since the last look, and what a start or an end can change
  kFull,   ///< everything
};

/// Restores the original request of a pending job (plugin/slurm/write/job_rewrite.h).
using RestoreRequest = bool (*)(job_record_t& job);

/// What stock backfill means to do with an unmanaged pending job.
struct StockPlan {
  Seconds start = 0;
  std::string names;  ///< hostlist
  NodeSet nodes;
  bool current = false;  ///< `nodes` are indices of this look's nodes
};

/// A job of a look: what is known of it, and what this look found out.
struct JobLine {
  const Job* job = nullptr;
  int rank = 0;
  std::uint32_t priority = 0;
  bool priority_set = false;
  Seconds eligible = 0;
  Seconds end_limit = 0;
  NodeClasses::Sets sets;
  bool preempting = false;
  bool may_preempt = false;
  Block block = Block::kNone;
  std::string block_text;  ///< "" leaves that of `job`
  const StockPlan* stock = nullptr;
};

/// Reads snapshots in two steps: gather() under slurmctld's locks, as little as it can; take()
/// without them. Keeps the last complete plan of stock backfill: a cycle clears start_time and
/// sched_nodes of all pending jobs and fills them in as it goes, so they are copied only while no
/// cycle is on.
class SnapshotReader {
 public:
  /// With `may_write` under LockKind::kAct (the queue is built as schedule() does, which tests
  /// dependencies and limits); else under LockKind::kLook, and no field of any record changes.
  /// With `may_write`, calls `restore` for each job that owes its request, before it is read.
  void gather(const Config& config, bool may_write, Depth depth, RestoreRequest restore);
  /// Jobs that owe their request (owes_request()) after a look that may not write: the caller
  /// restores them.
  [[nodiscard]] const std::vector<JobId>& owed() const { return owed_; }
  /// What gather() saw: everything but Snapshot::memory.
  [[nodiscard]] Snapshot take();

 private:
  friend class SnapshotPass;

  JobCache cache_;
  JobHints hints_;
  NodeClasses classes_;
  NodeIndex index_;
  std::map<JobId, StockPlan> stock_plans_;
  std::deque<Job> fresh_;  // entries of this look that the cache does not keep
  std::vector<JobLine> lines_;
  std::vector<JobId> owed_;
  Snapshot snapshot_;
  bool known_ = false;  // a full look has been
};

}  // namespace rubato
