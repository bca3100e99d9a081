// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/change_costs.h"

#include <algorithm>

namespace rubato {

void fill_change_costs(Snapshot& snapshot, const Config& config) {
  const auto cost = static_cast<double>(config.restart_cost);
  for (Job& job : snapshot.jobs) {
    job.costs = {.start = cost, .restart = cost, .resize = cost};
    if (job.state != JobState::kRunning) continue;
    const auto runs = static_cast<double>(snapshot.taken - job.start);
    job.starting = std::clamp(cost - runs, 0.0, cost);
  }
}

}  // namespace rubato
