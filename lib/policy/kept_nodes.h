// SPDX-License-Identifier: GPL-2.0-or-later
// Stage trade: what running jobs keep that give back whole nodes while they run.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "lib/core/snapshot.h"
#include "lib/policy/algorithms/capacity.h"

namespace rubato {

/// Whether `shares` are free from `from` until `to`.
[[nodiscard]] bool has_room(const Capacity& capacity, const std::vector<NodeShare>& shares,
                            Seconds from, Seconds to);

/// The shares with which a running job becomes smaller without an interruption: exactly those that
/// it holds on the nodes that it keeps (nodes_kept()). None if it does not shrink live to `gpus`.
[[nodiscard]] std::optional<std::vector<NodeShare>> shares_kept(const Snapshot& snapshot,
                                                                const Job& job, int gpus);

/// Holds what such jobs keep until they have their nodes, so that others go elsewhere first.
class KeptNodes {
 public:
  KeptNodes(Capacity& capacity, Seconds now) : capacity_(capacity), now_(now) {}

  [[nodiscard]] bool empty() const { return kept_.empty(); }
  /// Takes what job `i` keeps until `end`, if it is still free.
  void hold(std::size_t i, std::vector<NodeShare> shares, Seconds end);
  /// Gives back what is held for job `i`; false: nothing is.
  bool release(std::size_t i);
  /// Gives back all, for a job that finds nothing elsewhere.
  void release();
  /// Takes again what release() gave back and what is still free.
  void hold_again();

 private:
  struct Kept {
    std::vector<NodeShare> shares;
    Seconds end = 0;
  };
  void give_back(const Kept& kept);

  Capacity& capacity_;
  Seconds now_;
  std::map<std::size_t, Kept> kept_;
  std::map<std::size_t, Kept> released_;
};

}  // namespace rubato
