// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/budget.h"

namespace rubato {

Budget::Budget(const Snapshot& snapshot) {
  for (const Job& job : snapshot.jobs) {
    if (job.state == JobState::kRunning) running_.insert(job.key);
  }
}

}  // namespace rubato
