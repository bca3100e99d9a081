// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/core/node.h"

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

int NodeShare::gpu_count() const {
  int sum = 0;
  for (const GpuCount& group : gpus) sum += group.count;
  return sum;
}

}  // namespace rubato
