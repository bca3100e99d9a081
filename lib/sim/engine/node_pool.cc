// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/engine/node_pool.h"

#include <algorithm>

namespace rubato::sim {

NodePool::NodePool(const ClusterShape& cluster) : cluster_(cluster) {
  for (const NodeGroup& group : cluster.groups) {
    groups_.emplace_back(group.node_count(),
                         State{group.gpus_per_node, group.cores, group.memory, true});
  }
}

/// The number of GPUs for this job that still fit on the node. Cores or memory of 0 are unlimited.
int NodePool::room(TypeIndex type, const State& node, PerGpu each) const {
  const NodeGroup& group = cluster_.groups[type];
  if (!node.up) return 0;
  int most = node.gpus;
  if (group.cores > 0 && each.cores > 0) most = std::min(most, node.cores / each.cores);
  if (group.memory > 0 && each.memory > 0) {
    most = static_cast<int>(std::min<long>(most, node.memory / each.memory));
  }
  return most;
}

bool NodePool::take(TypeIndex type, const std::vector<NodeGpus>& where, PerGpu each) {
  if (!type.within(cluster_.types())) return false;
  auto& nodes = groups_[type];
  auto part = where.begin();
  for (; part != where.end(); ++part) {
    const auto [node, gpus] = *part;
    if (!node.within(nodes.size()) || gpus <= 0) break;
    State& state = nodes[node];
    if (gpus > room(type, state, each)) break;
    state.gpus -= gpus;
    state.cores -= gpus * each.cores;
    state.memory -= gpus * each.memory;
  }
  if (part == where.end()) return true;
  give(type, {where.begin(), part}, each);
  return false;
}

void NodePool::give(TypeIndex type, const std::vector<NodeGpus>& where, PerGpu each) {
  auto& nodes = groups_[type];
  for (const auto& [node, gpus] : where) {
    State& state = nodes[node];
    state.gpus += gpus;
    state.cores += gpus * each.cores;
    state.memory += gpus * each.memory;
  }
}

std::optional<std::vector<NodeGpus>> NodePool::find(TypeIndex type, int gpus, PerGpu each) const {
  const int whole = cluster_.groups[type].gpus_per_node;
  const auto& nodes = groups_[type];
  std::vector<int> rooms;
  for (const State& node : nodes) rooms.push_back(room(type, node, each));
  std::vector<NodeGpus> where;
  const auto use = [&](GroupNodeIndex node, int count) {
    where.push_back({node, count});
    rooms[node] -= count;
    gpus -= count;
  };
  for (const auto node : indices<GroupNodeIndex>(rooms)) {
    if (gpus < whole) break;
    if (rooms[node] >= whole) use(node, whole);
  }
  if (gpus > 0) {
    auto best = rooms.end();
    for (auto at = rooms.begin(); at != rooms.end(); ++at) {
      if (*at >= gpus && (best == rooms.end() || *at < *best)) best = at;
    }
    if (best != rooms.end()) use(GroupNodeIndex{best - rooms.begin()}, gpus);
  }
  while (gpus > 0) {
    const auto most = std::max_element(rooms.begin(), rooms.end());
    if (most == rooms.end() || *most <= 0) return std::nullopt;
    use(GroupNodeIndex{most - rooms.begin()}, std::min(*most, gpus));
  }
  std::sort(where.begin(), where.end(),
            [](const NodeGpus& a, const NodeGpus& b) { return a.node < b.node; });
  return where;
}

void NodePool::set_up(TypeIndex type, GroupNodeIndex node, bool up) { groups_[type][node].up = up; }

int NodePool::free(TypeIndex type) const {
  int sum = 0;
  for (const State& node : groups_[type]) sum += node.up ? node.gpus : 0;
  return sum;
}

std::vector<char> NodePool::up_flags() const {
  std::vector<char> flags;
  for (const auto& nodes : groups_) {
    for (const State& node : nodes) flags.push_back(node.up ? 1 : 0);
  }
  return flags;
}

}  // namespace rubato::sim
