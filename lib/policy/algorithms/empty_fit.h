// SPDX-License-Identifier: GPL-2.0-or-later
// Which GPU types could carry a request if nothing ran on the nodes.
#pragma once

#include <unordered_map>
#include <vector>

#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/demand.h"

namespace rubato {

/// Remembers the answer for each pair of nodes and request. Counting the GPUs of a type is not
/// enough: three nodes of four GPUs are not found among two nodes of eight.
class EmptyFit {
 public:
  explicit EmptyFit(const Capacity& capacity) : capacity_(capacity) {}

  /// By TypeId: the nodes of that type in `nodes` carry the whole of `request` if they are empty.
  [[nodiscard]] const std::vector<bool>& types(const NodeSet& nodes, const Request& request) const;

 private:
  struct Key {
    const NodeSet* nodes;
    Request request;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  [[nodiscard]] bool carries(const NodeSet& nodes, TypeId type, const Demand& demand) const;

  const Capacity& capacity_;
  mutable std::unordered_map<Key, std::vector<bool>, KeyHash> known_;
};

}  // namespace rubato
