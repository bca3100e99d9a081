// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs, waiting and running.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/units.h"
#include "lib/core/node.h"
#include "lib/hints/request.h"

namespace rubato {

enum class JobState { kPending, kRunning };

/// Why Slurm itself does not let a pending job start now. Such a job keeps its place in the order,
/// but nothing is reserved for it.
enum class Block {
  kNone,
  kLimit,        ///< an association or QOS limit
  kLicense,      ///< licences are used up
  kArrayLimit,   ///< the array's own %N
  kReservation,  ///< its reservation is not active, or it would run into one
  kPartition,    ///< the partition is down, inactive or closed to it
  kNodes,        ///< nodes it names are down or drained
  kOther,        ///< anything else Slurm says; the words are in Job::block_text
  kLeftOut,      ///< not Slurm: the round is shortened, since one passed RoundDeadline
  kPlace,        ///< not Slurm: other jobs have not yet freed the place that is kept for it
};

/// What a job asks of nodes, after Slurm's own defaults were applied. Counts are 0 where the job
/// does not say.
struct Request {
  int min_nodes = 1;
  int max_nodes = 0;      ///< 0: no bound
  int gpus = 0;           ///< in total, wherever they are (--gpus, --gpus-per-task)
  int gpus_per_node = 0;  ///< on every node (--gres, --gpus-per-node)
  int gpu_quantum = 1;    ///< GPUs on one node come in multiples of this (--gpus-per-task)
  std::string gpu_type;   ///< binds; "" leaves the choice open
  /// What follows counts CPUs, as Slurm does; a core of a node counts for so many of them. 1 where
  /// cores have one thread, and for a job that wants one thread of each.
  int threads = 1;
  int cores = 1;           ///< in total at least
  int cores_per_node = 0;  ///< on every node at least
  int cores_per_gpu = 0;
  int tasks = 0;             ///< --ntasks, or what follows from --ntasks-per-node
  int tasks_per_node = 0;    ///< --ntasks-per-node
  int gpus_per_task = 0;     ///< --gpus-per-task: tasks follow from the GPUs
  int cores_per_task = 1;    ///< --cpus-per-task
  bool fixed_nodes = false;  ///< -N is one number, min_nodes and max_nodes
  MiB memory_per_node = 0;
  MiB memory_per_core = 0;
  MiB memory_per_gpu = 0;
  bool whole_memory = false;  ///< it names no memory and gets that of its nodes, memory_per_node
  bool whole_nodes = false;   ///< --exclusive: nodes with nothing else on them, taken whole

  [[nodiscard]] bool wants_gpus() const { return gpus > 0 || gpus_per_node > 0; }
  /// GPUs it holds on `nodes` nodes.
  [[nodiscard]] int gpus_on(int nodes) const {
    return gpus_per_node > 0 ? gpus_per_node * nodes : gpus;
  }
  bool operator==(const Request&) const = default;
};

/// Index into Snapshot::node_sets; a default one is no set.
using NodeSetIndex = Index<struct NodeSetTag>;

/// What changes of a job cost, as measured or declared. All in seconds in which it holds GPUs
/// without progress; 0 if not known.
struct ChangeCosts {
  double start = 0;    ///< of its first start
  double restart = 0;  ///< of each later start
  double resize = 0;   ///< of a change of size while it runs

  bool operator==(const ChangeCosts&) const = default;
};

/// A pending or running job. A pending array is one job until its tasks start; a job submitted to
/// several partitions is several entries with the same key.
struct Job {
  JobKey key;
  JobId array_id = 0;  ///< 0: not of an array
  std::string label;   ///< JOBID in squeue: 12, 12_3, 12_[4-9]
  std::string name;
  std::string user;
  std::uint32_t uid = 0;
  std::string account;
  std::string qos;
  std::string partition;
  std::string reservation;  ///< Slurm's reservation that this entry would run in; "" for none
  JobState state = JobState::kPending;
  bool managed = false;  ///< Rubato places it; other jobs start as under stock Slurm
  bool batch = true;     ///< false: salloc or srun waits for it
  bool het = false;      ///< part of a heterogeneous job or of a federation: only stock starts it
  bool may_preempt = false;  ///< Slurm allows it to preempt others
  bool preempting = false;   ///< Slurm is preempting other jobs for it
  int tier = 1;              ///< PriorityTier of the partition
  std::uint32_t priority = 0;
  bool priority_set = false;  ///< set by hand, not by Slurm's own rules
  bool niced = false;         ///< has a nice value, which its user can choose
  /// Fair-share factor of its association, 0 to 1; none: fair-share does not count. Of a running
  /// job that of its start, unless Slurm has PriorityFlags=CALCULATE_RUNNING; none after a restart
  /// of slurmctld.
  std::optional<double> fair_share;
  int rank = 0;            ///< position in Slurm's own order, from 0; pending jobs only
  Seconds eligible = 0;    ///< when it became eligible
  Seconds time_limit = 0;  ///< seconds; kForever without one
  Request request;         ///< as submitted, also while it runs at another size
  int restarts = 0;        ///< how often Slurm has requeued it
  /// The hints of the job, completed by its JobType= line; none without hints. Also none if the
  /// comment is wrong; `hint_error` gives the reason.
  std::optional<ResolvedHints> hints;
  std::string hint_error;
  ChangeCosts costs;

  // pending
  std::string size_bound;  ///< why it starts as requested, although its hints allow other sizes
  int tasks = 1;           ///< tasks of a pending array that may start now, one start each
  NodeSetIndex node_set;   ///< where it may start now; of a running job if it were requeued
  NodeSetIndex later_set;  ///< where it could start later; of a running job when first
                           ///< seen, and always if it has hints
  Block block = Block::kNone;
  std::string block_text;
  Seconds stock_start = 0;             ///< start planned by stock backfill; 0: none
  std::vector<NodeIndex> stock_nodes;  ///< nodes planned by stock backfill; sorted
  Seconds time_min = 0;      ///< --time-min: it may start with a limit down to this; 0: it may not
  Seconds reserve_from = 0;  ///< no reservation before this time
  std::uint32_t reserve_priority = 0;  ///< no reservation with a lower priority

  // running
  Seconds start = 0;
  Seconds end_limit = 0;              ///< start + time limit
  std::vector<NodeShare> allocation;  ///< sorted by node
  NodeIndex batch_node;               ///< of its batch script, if that is not its first one
  std::string plan;                   ///< execution plan that it was told; "": as submitted
  std::int64_t batch_size = 0;        ///< global batch that it was told, samples; 0: as submitted
  double starting = 0;                ///< seconds that its present start still takes
  Seconds exempt_until = 0;   ///< end of Slurm's PreemptExemptTime, from its QOS or global; 0: none
  bool without_step = false;  ///< no step of it runs: its batch script alone

  bool operator==(const Job&) const = default;
};

[[nodiscard]] const char* to_string(JobState);
[[nodiscard]] const char* to_string(Block);
[[nodiscard]] std::optional<JobState> job_state_from(const std::string&);
[[nodiscard]] std::optional<Block> block_from(const std::string&);

}  // namespace rubato
