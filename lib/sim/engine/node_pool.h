// SPDX-License-Identifier: GPL-2.0-or-later
// The nodes of a simulated cluster and their free GPUs.
#pragma once

#include <optional>
#include <vector>

#include "lib/sim/engine/cluster_shape.h"
#include "lib/sim/engine/policy.h"

namespace rubato::sim {

/// Resources of a node that a job uses per GPU.
struct PerGpu {
  int cores = 0;
  long memory = 0;
};

class NodePool {
 public:
  explicit NodePool(const ClusterShape& cluster);

  /// False: the GPUs are not free, or the node is down or unknown.
  [[nodiscard]] bool take(TypeIndex type, const std::vector<NodeGpus>& where, PerGpu each);
  void give(TypeIndex type, const std::vector<NodeGpus>& where, PerGpu each);
  /// Placement of `gpus` GPUs; nullopt: no room. A job that fits one node goes to the fullest node
  /// with room for it. A larger job fills whole nodes; its rest is placed like a small job. If only
  /// fragments are free, it takes the nodes with most free GPUs first.
  [[nodiscard]] std::optional<std::vector<NodeGpus>> find(TypeIndex type, int gpus,
                                                          PerGpu each) const;

  void set_up(TypeIndex type, GroupNodeIndex node, bool up);
  [[nodiscard]] bool up(TypeIndex type, GroupNodeIndex node) const { return at(type, node).up; }
  /// GPUs for such a job that are free on a node.
  [[nodiscard]] int room(TypeIndex type, GroupNodeIndex node, PerGpu each) const {
    return room(type, at(type, node), each);
  }
  /// Free GPUs on nodes that are up.
  [[nodiscard]] int free(TypeIndex type) const;
  /// One flag per node, group by group.
  [[nodiscard]] std::vector<char> up_flags() const;

 private:
  struct State {
    int gpus = 0;
    int cores = 0;
    long memory = 0;
    bool up = true;
  };
  [[nodiscard]] const State& at(TypeIndex type, GroupNodeIndex node) const {
    return groups_[type][node];
  }
  [[nodiscard]] int room(TypeIndex type, const State& node, PerGpu each) const;

  const ClusterShape& cluster_;
  std::vector<std::vector<State>> groups_;
};

}  // namespace rubato::sim
