// SPDX-License-Identifier: GPL-2.0-or-later
// The queue of a round: pending jobs in order, each with the GPU types and sizes it may take.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lib/core/snapshot.h"
#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/demand.h"
#include "lib/policy/algorithms/round_input.h"

namespace rubato {

/// One configuration in which a job may start: a GPU type and a number of GPUs.
struct StartConfiguration {
  TypeId type = kNoGpu;
  int gpus = 0;  ///< in total; 0: as requested
  Job job;       ///< with the request of that size (at_size())
  Demand demand{Request{}};
  double throughput = 0;  ///< forecast, samples/s
  double cost = 0;        ///< seconds: the run time of the job, and the delay of the jobs behind it
};

/// Why a job may not start at a size; kNone where it may, once there is room.
enum class SizeObstacle {
  kNone,
  kCost,         ///< costs more than TypeChoice::most
  kWorkUnknown,  ///< smaller, and the job does not say its work
  kUncertain,    ///< smaller, and its forecast is not certain enough
  kTimeLimit,    ///< smaller, and might not end within the time limit
  kTooSlow,      ///< smaller, and takes longer than the wait and twice the run as requested
  kGuarantee,    ///< smaller, and slower than its QOS promises
  kUnmeasured,   ///< larger than twice the largest measured size
  kLoad,         ///< never measured, and too many jobs arrive to try it
  kShape,        ///< the request cannot take that size
  kGrowthCap,    ///< larger, and GrowthCap leaves that to the market
};

/// One size on one GPU type, as it was judged.
struct SizeTrial {
  TypeId type = kNoGpu;
  int gpus = 0;  ///< in total
  SizeObstacle obstacle = SizeObstacle::kNone;
  double throughput = 0;  ///< forecast, samples/s
  double cost = 0;        ///< as StartConfiguration::cost; 0: not worked out
};

/// The GPU types that one job may take, where that differs from "any, the fastest first".
struct TypeChoice {
  std::vector<TypeId> order;        ///< in the order in which they are tried
  std::vector<double> speed;        ///< by TypeId: its rank in `order`, equal ones by better fit
  std::vector<Forecast> forecasts;  ///< by TypeId, at the requested size; empty: none
  TypeId matched = kNoGpu;          ///< the type it was matched to
  double promised = 0;              ///< goodput that its QOS guarantees (guarantee.h); 0: none
  bool bound = false;               ///< its hint names types: it must never get another
  /// In the order in which they are tried; empty: the requested size on `order`.
  std::vector<StartConfiguration> configurations;
  bool waits_for_match = false;   ///< `order` has only `matched`, though the job accepts others
  double load = 0;                ///< of `matched`: arriving work, as a share of its GPUs
  double delayed = 0;             ///< jobs that a second of all GPUs of `matched` delays
  int behind = 0;                 ///< jobs that wait for `matched` after it
  std::vector<SizeTrial> trials;  ///< sizes that were judged; empty: none but the requested one
  /// Without GPUs (device=any), where the job ends no later so; it starts there once it finds no
  /// GPUs. `cost`: its run time alone.
  std::optional<StartConfiguration> on_cpus{};
  double seconds_on_gpus = 0;  ///< where `on_cpus` is set: with the wait for GPUs of `matched`
  /// Seconds: the requested size on `matched`, with the wait for it. A size that costs more is not
  /// taken. kForbidden (assign.h): the job takes any.
  double most = 0;
};

/// Index into PendingQueue::entries, in queue order.
using EntryIndex = Index<struct PendingEntryTag>;

/// A pending job in one partition and reservation.
struct PendingEntry {
  const Job* job = nullptr;
  EntryIndex order = 0;  ///< rank in the queue of this round, from 0
  Demand demand{Request{}};
  const NodeSet* nodes = nullptr;     ///< where it may start now; never null, valid indices
  const NodeSet* later = nullptr;     ///< where it could start at some time; likewise
  const TypeChoice* types = nullptr;  ///< null: any type, the fastest first
  int gpus = 0;              ///< another size than requested, which `job` has (at_size()); 0: none
  bool on_cpus = false;      ///< `job` is planned without GPUs
  bool spares_gpus = false;  ///< it leaves cores and memory to the free GPUs of a node
  /// What a running job holds now: it goes to these nodes before others. Null for waiting jobs.
  const std::vector<NodeShare>* held = nullptr;

  /// When it ends if it starts at `start` and runs to its time limit.
  [[nodiscard]] Seconds end(Seconds start) const { return add_seconds(start, job->time_limit); }
};

/// Pending jobs in order. Entries point into the snapshot, `sized` and `choices`; the queue can be
/// moved, not copied.
struct PendingQueue {
  std::vector<PendingEntry> entries;
  std::vector<EntryIndex> by_key;    ///< sorted by job key; entries of one job by order
  std::vector<const NodeSet*> sets;  ///< by index into Snapshot::node_sets; empty if not valid
  std::deque<Job> sized;             ///< jobs that are planned at another size
  std::vector<std::unique_ptr<const TypeChoice>> choices;  ///< of entries, in no order

  /// The node set with this index; an empty one if there is none.
  [[nodiscard]] const NodeSet* set(NodeSetIndex index) const;
  /// The entries of one job, in queue order.
  [[nodiscard]] std::span<const EntryIndex> entries_of(const JobKey& job) const;
};

/// One entry for each job of `order`, any GPU type. Node sets that do not exist, or name nodes that
/// do not exist, count as empty.
[[nodiscard]] PendingQueue make_queue(const RoundInput& input,
                                      const std::vector<const Job*>& order);

}  // namespace rubato
