// SPDX-License-Identifier: GPL-2.0-or-later
// The nodes of a simulated cluster and their free GPUs.
#pragma once

#include <optional>
#include <vector>

#include "lib/sim/engine/cluster_shape.h"
#include "lib/sim/engine/policy.h"

namespace rubato::sim {

/// What a job takes of a node with each GPU.
struct PerGpu {
  int cores = 0;
  long memory = 0;
};

class NodePool {
 public:
  explicit NodePool(const ClusterShape& cluster);

  /// False: that is not free, or not there.
  [[nodiscard]] bool take(int type, const std::vector<NodeGpus>& where, PerGpu each);
  void give(int type, const std::vector<NodeGpus>& where, PerGpu each);
  /// Where `gpus` GPUs would go: whole on the node with fewest free GPUs that holds them; larger
  /// ones on nodes they fill, the rest as a small one; in pieces, most free first, where nothing
  /// else is left. nullopt: no room.
  [[nodiscard]] std::optional<std::vector<NodeGpus>> find(int type, int gpus, PerGpu each) const;

  void set_up(int type, int node, bool up);
  [[nodiscard]] bool up(int type, int node) const { return at(type, node).up; }
  /// GPUs free on nodes that are up.
  [[nodiscard]] int free(int type) const;
  /// A flag a node, group by group.
  [[nodiscard]] std::vector<char> up_flags() const;

 private:
  struct State {
    int gpus = 0;
    int cores = 0;
    long memory = 0;
    bool up = true;
  };
  [[nodiscard]] const State& at(int type, int node) const {
    return groups_[static_cast<std::size_t>(type)][static_cast<std::size_t>(node)];
  }
  [[nodiscard]] int room(int type, const State& node, PerGpu each) const;

  const ClusterShape& cluster_;
  std::vector<std::vector<State>> groups_;
};

}  // namespace rubato::sim
