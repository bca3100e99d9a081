// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/budget.h"

namespace rubato {

Budget budget_of(const Snapshot& snapshot) {
  std::set<JobKey> running;
  for (const Job& job : snapshot.jobs) {
    if (job.state == JobState::kRunning) running.insert(job.key);
  }
  return Budget(std::move(running));
}

}  // namespace rubato
