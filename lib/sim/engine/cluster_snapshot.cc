// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/engine/cluster_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace rubato::sim {
namespace {

constexpr const char* kNoName = "gpu";
/// Maximum number of names in a note.
constexpr std::size_t kMaxNames = 8;

/// Type, and minus the GPUs per node: larger nodes sort first.
using Key = std::pair<std::string, int>;

std::string names_text(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kMaxNames);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<long>(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

/// Counts `node` in the group of its GPUs of one type. Cores and memory are the minimum over the
/// group.
void add(std::map<Key, NodeGroup>& groups, std::set<Key>& unlike, const Node& node,
         const GpuGroup& gpus) {
  const std::string type = gpus.type.empty() ? kNoName : gpus.type;
  const Key key{type, -gpus.total};
  const int all = node.gpus_total();
  const int cores = std::max(1, node.cores * gpus.total / all);
  const auto memory = static_cast<long>(node.memory) * gpus.total / all;
  const auto [at, is_new] = groups.try_emplace(key);
  NodeGroup& group = at->second;
  if (is_new) {
    group.type = type;
    group.gpu = type;
    group.gpus_per_node = gpus.total;
    group.cores = cores;
    group.memory = memory;
  } else if (group.cores != cores || group.memory != memory) {
    unlike.insert(key);
    group.cores = std::min(group.cores, cores);
    group.memory = std::min(group.memory, memory);
  }
  ++group.nodes;
}

}  // namespace

Result<SnapshotShape> shape_of(const Snapshot& snapshot) {
  std::map<Key, NodeGroup> groups;
  std::set<Key> unlike;
  std::vector<std::string> down;
  std::vector<std::string> mixed;
  for (const Node& node : snapshot.nodes) {
    if (node.gpus_total() == 0) continue;
    if (!node.in_service()) down.push_back(node.name);
    if (node.gpus.size() > 1) mixed.push_back(node.name);
    for (const GpuGroup& gpus : node.gpus) {
      if (gpus.total > 0) add(groups, unlike, node, gpus);
    }
  }
  if (groups.empty()) return fail("no node has GPUs");
  SnapshotShape shape;
  for (auto& [key, group] : groups) {
    if (shape.cluster.type_of(group.type).valid()) {
      group.type = fmt::format("{}-{}", group.gpu, group.gpus_per_node);
      shape.notes.push_back(
          fmt::format("Nodes with {} {} of type {} are the type {} here.", group.gpus_per_node,
                      group.gpus_per_node == 1 ? "GPU" : "GPUs", group.gpu, group.type));
    }
    if (unlike.contains(key)) {
      shape.notes.push_back(fmt::format(
          "Nodes of type {} differ in cores or memory; the smallest values count for all.",
          group.type));
    }
    shape.cluster.groups.push_back(group);
  }
  if (!mixed.empty()) {
    shape.notes.push_back(fmt::format(
        "Nodes with several GPU types count as one node per type: {}.", names_text(mixed)));
  }
  if (!down.empty()) {
    shape.notes.push_back(
        fmt::format("Includes nodes that are down or drained: {}.", names_text(down)));
  }
  return shape;
}

}  // namespace rubato::sim
