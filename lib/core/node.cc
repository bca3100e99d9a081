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

}  // namespace rubato
