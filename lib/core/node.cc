// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/core/node.h"

#include <algorithm>

namespace rubato {

int Node::gpus_total() const {
  int sum = 0;
  for (const GpuGroup& group : gpus) sum += group.total;
  return sum;
}

int Node::gpus_free() const {
  int sum = 0;
  for (const GpuGroup& group : gpus) sum += group.free;
  return sum;
}

bool Node::has_only(const std::string& gpu_type) const {
  return !gpus.empty() &&
         std::ranges::all_of(gpus, [&](const GpuGroup& one) { return one.type == gpu_type; });
}

int NodeShare::gpu_count() const {
  int sum = 0;
  for (const GpuCount& group : gpus) sum += group.count;
  return sum;
}

int NodeShare::gpu_count(const std::string& type) const {
  const auto at = std::ranges::find(gpus, type, &GpuCount::type);
  return at != gpus.end() ? at->count : 0;
}

const NodeShare* share_on(const std::vector<NodeShare>& shares, NodeIndex node) {
  const auto found = std::ranges::lower_bound(shares, node, {}, &NodeShare::node);
  return found != shares.end() && found->node == node ? &*found : nullptr;
}

NodeShare beyond(const NodeShare& share, const NodeShare* held) {
  NodeShare more = share;
  if (held == nullptr) return more;
  more.cores = std::max(share.cores - held->cores, 0);
  more.memory = std::max<MiB>(share.memory - held->memory, 0);
  for (GpuCount& group : more.gpus) group.count -= held->gpu_count(group.type);
  std::erase_if(more.gpus, [](const GpuCount& group) { return group.count <= 0; });
  return more;
}

}  // namespace rubato
