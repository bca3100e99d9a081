// SPDX-License-Identifier: GPL-2.0-or-later
// Reads slurmctld's records into a Snapshot.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "plugin/slurm/read/job_cache.h"
#include "plugin/slurm/read/job_hints.h"
#include "plugin/slurm/read/limit_room.h"
#include "plugin/slurm/read/node_classes.h"
#include "plugin/slurm/read/queue.h"

namespace rubato {

/// Which jobs a look reads.
enum class Depth {
  kLight,  ///< what changed since the last look, and what a start or an end can change
  kQueue,  ///< also builds the queue as schedule() does, with all its tests
  kFull,   ///< reads each job, too
};

/// repair_record() (plugin/slurm/write/job_rewrite.h).
using RepairRecord = bool (*)(job_record_t& job);

/// The start that stock backfill plans for a pending job that it may plan.
struct StockPlan {
  Seconds start = 0;
  std::string names;  ///< hostlist
  NodeSet nodes;
  bool current = false;  ///< whether `nodes` are indices of this look's nodes
};

/// A job of a look: its cached data and the results of this look.
struct JobLine {
  const Job* job = nullptr;
  int rank = 0;
  std::uint32_t priority = 0;
  bool priority_set = false;
  bool niced = false;
  std::optional<double> fair_share;
  Seconds eligible = 0;
  Seconds end_limit = 0;
  Seconds exempt_until = 0;
  bool without_step = false;
  NodeClasses::Sets sets;
  bool preempting = false;
  bool may_preempt = false;
  Block block = Block::kNone;
  std::string block_text;  ///< "" keeps the text of `job`
  std::string magnetic;    ///< magnetic reservation of this entry; "" keeps the one of `job`
  const StockPlan* stock = nullptr;
};

/// Reads snapshots in two steps: gather() does the minimum under slurmctld's locks; take() runs
/// without them. Keeps the last complete plan of stock backfill. A backfill cycle clears start_time
/// and sched_nodes of all pending jobs and sets them again one by one. They are therefore copied
/// only while no cycle runs.
class SnapshotReader {
 public:
  /// Managed jobs, sorted, whose plan by stock backfill is read like that of unmanaged jobs.
  void read_plans_of(std::vector<JobId> jobs) { asked_ = std::move(jobs); }
  /// With `may_write`: needs LockKind::kAct, builds the queue as schedule() does, with tests of
  /// dependencies and limits. Without: needs LockKind::kLook and changes no record. With
  /// `may_write`, calls `repair` for each job that owes its request (owes_request()), waits for
  /// slurmdbd in vain (waits_without_slurmdbd()) or keeps_resize_time(), before reading it.
  void gather(const Config& config, bool may_write, Depth depth, RepairRecord repair);
  /// Such jobs after a look that may not write. The caller repairs them.
  [[nodiscard]] const std::vector<JobId>& owed() const { return owed_; }
  /// The result of gather(), without Snapshot::memory.
  [[nodiscard]] Snapshot take();

 private:
  friend class SnapshotPass;

  JobCache cache_;
  JobHints hints_;
  NodeClasses classes_;
  LimitRooms rooms_;
  NodeNumbers index_;
  std::map<JobId, StockPlan> stock_plans_;
  std::deque<Job> fresh_;  // entries of this look that are not in the cache
  std::vector<JobLine> lines_;
  std::vector<JobId> owed_;
  std::vector<JobId> asked_;
  Snapshot snapshot_;
  bool known_ = false;  // a full look has happened
};

}  // namespace rubato
