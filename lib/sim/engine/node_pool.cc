// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/engine/node_pool.h"

#include <algorithm>

namespace rubato::sim {

NodePool::NodePool(const ClusterShape& cluster) : cluster_(cluster) {
  for (const NodeGroup& group : cluster.groups) {
    groups_.emplace_back(static_cast<std::size_t>(group.nodes),
                         State{group.gpus_per_node, group.cores, group.memory, true});
  }
}

/// The number of GPUs for this job that still fit on the node. Cores or memory of 0 are unlimited.
int NodePool::room(int type, const State& node, PerGpu each) const {
  const NodeGroup& group = cluster_.groups[static_cast<std::size_t>(type)];
  if (!node.up) return 0;
  int most = node.gpus;
  if (group.cores > 0 && each.cores > 0) most = std::min(most, node.cores / each.cores);
  if (group.memory > 0 && each.memory > 0) {
    most = static_cast<int>(std::min<long>(most, node.memory / each.memory));
  }
  return most;
}

bool NodePool::take(int type, const std::vector<NodeGpus>& where, PerGpu each) {
  if (type < 0 || type >= cluster_.types()) return false;
  auto& nodes = groups_[static_cast<std::size_t>(type)];
  std::size_t taken = 0;
  for (; taken < where.size(); ++taken) {
    const auto [node, gpus] = where[taken];
    if (node < 0 || static_cast<std::size_t>(node) >= nodes.size() || gpus <= 0) break;
    State& state = nodes[static_cast<std::size_t>(node)];
    if (gpus > room(type, state, each)) break;
    state.gpus -= gpus;
    state.cores -= gpus * each.cores;
    state.memory -= gpus * each.memory;
  }
  if (taken == where.size()) return true;
  give(type, {where.begin(), where.begin() + static_cast<std::ptrdiff_t>(taken)}, each);
  return false;
}

void NodePool::give(int type, const std::vector<NodeGpus>& where, PerGpu each) {
  auto& nodes = groups_[static_cast<std::size_t>(type)];
  for (const auto& [node, gpus] : where) {
    State& state = nodes[static_cast<std::size_t>(node)];
    state.gpus += gpus;
    state.cores += gpus * each.cores;
    state.memory += gpus * each.memory;
  }
}

std::optional<std::vector<NodeGpus>> NodePool::find(int type, int gpus, PerGpu each) const {
  const int whole = cluster_.groups[static_cast<std::size_t>(type)].gpus_per_node;
  const auto& nodes = groups_[static_cast<std::size_t>(type)];
  std::vector<int> rooms;
  for (const State& node : nodes) rooms.push_back(room(type, node, each));
  std::vector<NodeGpus> where;
  const auto use = [&](std::size_t node, int count) {
    where.push_back({static_cast<int>(node), count});
    rooms[node] -= count;
    gpus -= count;
  };
  for (std::size_t node = 0; node < rooms.size() && gpus >= whole; ++node) {
    if (rooms[node] >= whole) use(node, whole);
  }
  if (gpus > 0) {
    auto best = rooms.end();
    for (auto at = rooms.begin(); at != rooms.end(); ++at) {
      if (*at >= gpus && (best == rooms.end() || *at < *best)) best = at;
    }
    if (best != rooms.end()) use(static_cast<std::size_t>(best - rooms.begin()), gpus);
  }
  while (gpus > 0) {
    const auto most = std::max_element(rooms.begin(), rooms.end());
    if (most == rooms.end() || *most <= 0) return std::nullopt;
    use(static_cast<std::size_t>(most - rooms.begin()), std::min(*most, gpus));
  }
  std::sort(where.begin(), where.end(),
            [](const NodeGpus& a, const NodeGpus& b) { return a.node < b.node; });
  return where;
}

void NodePool::set_up(int type, int node, bool up) {
  groups_[static_cast<std::size_t>(type)][static_cast<std::size_t>(node)].up = up;
}

int NodePool::free(int type) const {
  int sum = 0;
  for (const State& node : groups_[static_cast<std::size_t>(type)]) sum += node.up ? node.gpus : 0;
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
