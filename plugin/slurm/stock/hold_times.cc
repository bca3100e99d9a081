// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>

#include "plugin/slurm/stock/locks.h"

namespace rubato {

void HoldTimes::add(double ms, double cpu) {
  ++holds;
  total_ms += ms;
  max_ms = std::max(max_ms, ms);
  cpu_ms += cpu;
  max_cpu_ms = std::max(max_cpu_ms, cpu);
}

void LockTimes::add(LockUse use, double ms, double cpu) {
  all.add(ms, cpu);
  by_use[static_cast<std::size_t>(use)].add(ms, cpu);
}

}  // namespace rubato
