// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>

#include "plugin/slurm/stock/locks.h"

namespace rubato {

void HoldTimes::add(double ms, double cpu) {
  ++holds;
  total_ms += ms;
  longest_ms = std::max(longest_ms, ms);
  cpu_ms += cpu;
  longest_cpu_ms = std::max(longest_cpu_ms, cpu);
}

void LockTimes::add(LockUse use, double ms, double cpu) {
  all.add(ms, cpu);
  by_use[static_cast<std::size_t>(use)].add(ms, cpu);
}

}  // namespace rubato
