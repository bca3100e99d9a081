// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/shared/gpu_use.h"

#include <algorithm>
#include <map>

namespace rubato::tools {
namespace {

void add_node(const Node& node, std::map<std::string, GpuTypeUse>& types) {
  const bool starved = node.cores_free == 0 || node.memory_free == 0;
  for (const GpuGroup& group : node.gpus) {
    GpuTypeUse& use = types[group.type];
    use.type = group.type;
    ++use.nodes;
    use.total += group.total;
    use.held += group.total - group.free;
    if (!node.in_service()) {
      use.out += group.free;
      continue;
    }
    use.free += group.free;
    if (node.gpus_free() == node.gpus_total()) use.whole += group.free;
    use.largest = std::max(use.largest, group.free);
    if (starved) use.starved += group.free;
  }
}

}  // namespace

double GpuTypeUse::scattered() const {
  return free > 0 ? static_cast<double>(free - whole) / free : 0;
}

std::vector<GpuTypeUse> gpu_use(const Snapshot& snapshot, const Plan* plan) {
  std::map<std::string, GpuTypeUse> types;
  for (const Node& node : snapshot.nodes) add_node(node, types);
  if (plan != nullptr) {
    for (const TypePrice& price : plan->prices)
      if (const auto at = types.find(price.gpu_type); at != types.end())
        at->second.price = price.price;
  }
  std::vector<GpuTypeUse> list;
  list.reserve(types.size());
  for (auto& [type, use] : types) list.push_back(std::move(use));
  return list;
}

}  // namespace rubato::tools
