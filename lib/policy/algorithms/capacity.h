// SPDX-License-Identifier: GPL-2.0-or-later
// What is free on every node, now and later. The future follows from time limits: what a job holds
// comes free at its limit, what is reserved is taken from the start of the reservation on.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/core/snapshot.h"

namespace rubato {

/// Index of a GPU type in the order of the type names; kNoGpu for a job without GPUs.
using TypeId = Index<struct GpuTypeTag>;
inline constexpr TypeId kNoGpu = -1;
/// GPUs of all types together: for an untyped request that no one type could ever carry, which
/// Slurm would start on several.
inline constexpr TypeId kAnyGpu = -2;

/// What one node can give throughout a stretch of time. May be below 0 where more was taken than
/// there is.
struct NodeRoom {
  int cores = 0;
  MiB memory = 0;
  int gpus = 0;  ///< of the type asked for
};

/// Free resources by node and time. All times in Unix seconds.
class Capacity {
 public:
  /// From the running jobs of `snapshot`; a job past its limit counts as ending at `now` + 1.
  Capacity(const Snapshot& snapshot, Seconds now);

  [[nodiscard]] Seconds now() const { return now_; }
  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
  [[nodiscard]] const std::vector<std::string>& types() const { return types_; }
  [[nodiscard]] TypeId type_id(const std::string& name) const;  ///< kNoGpu if no node has it
  [[nodiscard]] bool has_type(NodeIndex node, TypeId type) const;
  /// "" for kNoGpu and kAnyGpu.
  [[nodiscard]] std::string type_name(TypeId type) const;
  /// `amount` GPUs of kAnyGpu as what the node's types can give in [from, to), in the order of
  /// their names; what they cannot is taken from the last.
  [[nodiscard]] std::vector<GpuCount> split(NodeIndex node, int amount, Seconds from,
                                            Seconds to) const;

  /// The least that is free on `node` in [from, to), of each resource. A stretch that ends at
  /// kForever includes what is reserved at kForever (a drain). `from` is at least now.
  [[nodiscard]] NodeRoom room(NodeIndex node, TypeId type, Seconds from, Seconds to) const;
  /// Nothing on the node is in use in [from, to).
  [[nodiscard]] bool untouched(NodeIndex node, Seconds from, Seconds to) const;
  /// What the node has when nothing runs on it.
  [[nodiscard]] NodeRoom total(NodeIndex node, TypeId type) const;

  /// Subtracts `share` in [from, to); `from` may be in the past.
  void take(const NodeShare& share, Seconds from, Seconds to) { change(share, from, to, -1); }
  /// Undoes `take` with the same arguments.
  void give_back(const NodeShare& share, Seconds from, Seconds to) { change(share, from, to, 1); }

  /// Index of the GPUs of one type on one node.
  using SlotIndex = Index<struct SlotTag>;

  /// A change that is to come on a node.
  struct Event {
    Seconds time = 0;
    MiB memory = 0;
    int cores = 0;
    int gpus = 0;
    SlotIndex slot;  ///< of the GPUs; none without

    bool operator==(const Event&) const = default;
  };
  /// Sorted by time.
  [[nodiscard]] std::span<const Event> events(NodeIndex node) const;
  /// Something on the node is taken in the future, so that room does not only grow.
  [[nodiscard]] bool taken_later(NodeIndex node) const { return nodes_[node].later_takes > 0; }

 private:
  struct NodeState {
    int cores = 0;
    int cores_total = 0;
    MiB memory = 0;
    MiB memory_total = 0;
    SlotIndex slot_begin = 0;
    SlotIndex slot_end = 0;
    int later_takes = 0;
    std::vector<Event> events;
  };
  struct Slot {
    TypeId type = kNoGpu;
    int free = 0;
    int total = 0;
  };
  struct Level;

  [[nodiscard]] SlotIndex slot(NodeIndex node, TypeId type) const;
  [[nodiscard]] NodeRoom room_of_all(NodeIndex node, Seconds from, Seconds to) const;
  void change(const NodeShare& share, Seconds from, Seconds to, int sign);
  void add_events(NodeState& node, const NodeShare& share, Seconds time, int sign);
  void remove_events(NodeState& node, const NodeShare& share, Seconds time, int sign);
  template <typename Function>
  void each_event(const NodeState& node, const NodeShare& share, Seconds time, int sign,
                  Function function) const;

  Seconds now_ = 0;
  std::vector<std::string> types_;
  std::vector<NodeState> nodes_;
  std::vector<Slot> slots_;
};

}  // namespace rubato
