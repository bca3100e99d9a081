// SPDX-License-Identifier: GPL-2.0-or-later
// Stage 5: on which nodes, and on which GPU type, a job starts now.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/choose.h"
#include "lib/policy/algorithms/empty_fit.h"
#include "lib/policy/algorithms/forecasts.h"
#include "lib/policy/algorithms/pending_queue.h"
#include "lib/policy/algorithms/reservation_table.h"

namespace rubato {

/// Where a job goes.
struct Placement {
  TypeId type = kNoGpu;
  NodeScore score;
  std::vector<NodeShare> shares;  ///< sorted by node
  int gpus = 0;                   ///< in total, of another size than it asks for; 0: as requested
  double throughput = 0;          ///< samples/s expected at that size; 0: not told
  std::string plan = {};        ///< execution plan and global batch that it starts with; "", 0: as
  std::int64_t batch = 0;       ///< submitted
  const char* model = nullptr;  ///< that chose them
  Seconds time_limit = 0;       ///< shorter than the job's (--time-min); 0: as requested
};

/// What a job that finds no room is short of: the first of these whose removal would let it start.
enum class Shortage {
  kNever,  ///< its nodes could not carry it if they were empty
  kNodes,  ///< nodes that are up
  kGpus,
  kCores,
  kMemory,
  kWholeNodes,  ///< nodes with nothing on them
  kReserved,    ///< kept for reservations of other jobs
  kStockPlan,   ///< where stock backfill means to start an earlier job
  kPreempting,  ///< where Slurm is making room for an earlier job
  kQueue,       ///< unmanaged: an earlier unmanaged job of a partition on these nodes waits
};

/// GPUs of a type on the nodes a job may use.
struct TypeCount {
  TypeId type = kNoGpu;
  int free = 0;
  int total = 0;
};

/// Why a job finds no room, with the numbers that decided.
struct PlacementFailure {
  Shortage shortage = Shortage::kNever;
  int nodes = 0;         ///< it may use
  int nodes_up = 0;      ///< of these, usable
  int nodes_room = 0;    ///< of these, with room for its least part as far as `shortage` tells
  int nodes_before = 0;  ///< with room before `shortage` was looked at
  int cores_free = 0;    ///< on the nodes that are up
  MiB memory_free = 0;
  std::vector<TypeCount> gpus;  ///< the types it takes
  // The job that is in the way, for kReserved, kStockPlan and kPreempting.
  std::string holder;
  Seconds holder_start = 0;
};

/// A job without a type in its request that may have GPUs of several types at once (mix-types).
[[nodiscard]] bool mixes(const Job& job);

/// Finds room now, as the round goes down the queue and capacity shrinks.
class Placer {
 public:
  Placer(const RoundInput& input, const Forecasts& forecasts, const PendingQueue& queue,
         const Capacity& capacity, const ReservationTable& reservation_table);

  /// Room for the whole of `entry` from now to its time limit, beside everything reserved. For an
  /// untyped request a type with room on nodes that are up goes before one that needs a boot; then
  /// the fastest type, among equally fast ones the one of the best Score, then the first by name;
  /// of one type the nodes of the best Score, then lowest indices.
  [[nodiscard]] std::optional<Placement> place(const PendingEntry& entry);
  /// Room for the whole of `entry` on GPUs of several types, for a job with mix-types; of the types
  /// that its hints name, if they do.
  [[nodiscard]] std::optional<Placement> place_mixed(const PendingEntry& entry);
  /// `entry` may get GPUs of `type` on `node`. With kAnyGpu it may get any GPU of the node.
  [[nodiscard]] bool accepts(const PendingEntry& entry, NodeIndex node, TypeId type) const;
  /// Why `place` found nothing.
  [[nodiscard]] std::shared_ptr<const PlacementFailure> failure(const PendingEntry& entry);

  /// From now on no job of lower order starts on the nodes of `entry`, for which Slurm ends other
  /// jobs.
  void keep_for_preemption(const PendingEntry& entry);
  /// From now on no unmanaged job starts on `nodes`.
  void close_to_unmanaged(const NodeSet& nodes, const PendingEntry& entry);
  /// Capacity has grown: what failed before may fit now.
  void forget();

  /// A node where stock backfill means to start an unmanaged job.
  struct StockPlanInterval {
    Seconds from = 0;
    Seconds to = 0;
    EntryIndex order = 0;  ///< of the job; only managed jobs below it heed the hold
  };
  /// Stock's plans on `node`, by order.
  [[nodiscard]] const std::vector<StockPlanInterval>& stock_plan_intervals(NodeIndex node) const {
    return stock_[node];
  }
  /// The hold that `entry`, running on `node` in [start, start + limit), would run into.
  [[nodiscard]] const StockPlanInterval* conflicting_stock_plan(const PendingEntry& entry,
                                                                NodeIndex node,
                                                                Seconds start) const;
  /// Slurm's reservations that keep `entry` from `node` if it runs there in [start, start + limit).
  /// None on a node where it may start now.
  [[nodiscard]] bool in_a_window(const PendingEntry& entry, NodeIndex node, Seconds start) const;
  /// Slurm's reservations of `node`, but that of `entry`, in [start, start + limit), whether or not
  /// it may use them.
  [[nodiscard]] bool crosses_window(const PendingEntry& entry, NodeIndex node, Seconds start) const;
  /// Slurm's reservations of `node`.
  [[nodiscard]] const std::vector<const ReservationWindow*>& windows(NodeIndex node) const {
    return windows_[node];
  }
  /// Some node of `entry` is out of bounds because of stock's plan or a preemption, so Slurm must
  /// not look for other nodes by itself.
  [[nodiscard]] bool bounded(const PendingEntry& entry) const;

  /// `node` is up, and neither stock's plan nor a preemption keeps `entry` from starting there.
  [[nodiscard]] bool open(const PendingEntry& entry, NodeIndex node) const;

  [[nodiscard]] const ReservationTable& reservations() const { return reservation_table_; }

  /// Types an entry can take, in the order in which they are tried; {kNoGpu} without GPUs,
  /// {kAnyGpu} for an untyped request that no one type could carry if all its nodes were empty. If
  /// its hints name types, it then needs mix-types.
  [[nodiscard]] std::vector<TypeId> types_of(const PendingEntry& entry) const;

 private:
  // How much of the truth is looked at: each level adds to the one before.
  enum class Level {
    kEmpty,
    kUp,
    kGpus,
    kCores,
    kMemory,
    kWhole,
    kReserved,
    kStock,
    kPreempting,
    kAll
  };

  struct FailureKey {
    const NodeSet* nodes = nullptr;
    enum class Types { kAny, kChosen, kBound } choice = Types::kAny;
    std::vector<TypeId> types;      ///< kChosen, kBound: in this order
    std::optional<GpuTypes> mixed;  ///< of a job that mixes types: those that its hints name
    bool managed = false;
    bool spares_gpus = false;
    Request request;
    bool operator==(const FailureKey&) const = default;
  };
  struct FailureKeyHash {
    std::size_t operator()(const FailureKey& key) const;
  };
  struct FailureMemo {
    Seconds time_limit = std::numeric_limits<Seconds>::max();  ///< this and longer ones fail
    std::shared_ptr<const PlacementFailure> failure;
  };
  struct ListKey {
    const NodeSet* nodes;
    TypeId type;
    bool operator==(const ListKey&) const = default;
  };
  struct ListHash {
    std::size_t operator()(const ListKey& key) const;
  };

  [[nodiscard]] NodeRoom room_at(const PendingEntry& entry, NodeIndex node, TypeId type,
                                 Level level) const;
  void load_stock_plans();
  [[nodiscard]] NodeCandidate candidate(const PendingEntry& entry, NodeIndex node, TypeId type,
                                        int nodes, Level level) const;
  /// The nodes of `set` that have GPUs of `type`.
  [[nodiscard]] const std::vector<NodeIndex>& nodes_with(const NodeSet* set, TypeId type) const;
  [[nodiscard]] const std::vector<NodeIndex>& live_nodes(const PendingEntry& entry, TypeId type);
  void gather(const PendingEntry& entry, TypeId type, int nodes, Level level,
              std::vector<NodeCandidate>& to);
  [[nodiscard]] bool one_type_carries(const PendingEntry& entry) const;
  [[nodiscard]] std::optional<NodeChoice> choose_on(const PendingEntry& entry, TypeId type);
  [[nodiscard]] Placement placement_of(const PendingEntry& entry, const NodeChoice& choice,
                                       TypeId type) const;
  struct Trial {
    bool fits = false;
    int nodes = 0;  ///< that carry a part of it, of the type with most of them
  };
  [[nodiscard]] Trial trial(const PendingEntry& entry, Level level);
  void find_shortage(const PendingEntry& entry, PlacementFailure& failure);
  void count(const PendingEntry& entry, PlacementFailure& failure) const;
  void name_holder(const PendingEntry& entry, PlacementFailure& failure) const;
  void leave_for_gpus(NodeIndex node, NodeRoom& room) const;
  [[nodiscard]] FailureKey key_of(const PendingEntry& entry) const;

  const RoundInput& input_;
  const Forecasts& forecasts_;
  const PendingQueue& queue_;
  const Capacity& capacity_;
  const ReservationTable& reservation_table_;
  EmptyFit empty_fit_;
  std::vector<std::vector<StockPlanInterval>> stock_;  ///< by node
  std::vector<std::vector<const ReservationWindow*>> windows_;
  std::vector<const Job*> preempting_;  ///< by node
  std::vector<const Job*> closed_;      ///< by node, to unmanaged jobs
  bool any_preempting_ = false;
  bool any_stock_ = false;
  std::unordered_map<FailureKey, FailureMemo, FailureKeyHash> memo_;
  mutable std::unordered_map<ListKey, std::vector<NodeIndex>, ListHash> typed_;
  std::unordered_map<ListKey, std::vector<NodeIndex>, ListHash> live_;
  std::vector<NodeCandidate> candidates_;  ///< scratch
};

}  // namespace rubato
