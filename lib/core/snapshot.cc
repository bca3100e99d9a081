// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/core/snapshot.h"

#include <algorithm>

namespace rubato {

const Progress* progress_of(const Memory& memory, const JobKey& job) {
  const auto at = std::lower_bound(
      memory.progress.begin(), memory.progress.end(), job,
      [](const Progress& progress, const JobKey& key) { return progress.job < key; });
  return at != memory.progress.end() && at->job == job ? &*at : nullptr;
}

const Service* service_of(const Memory& memory, const JobKey& job) {
  const auto at =
      std::lower_bound(memory.service.begin(), memory.service.end(), job,
                       [](const Service& service, const JobKey& key) { return service.job < key; });
  return at != memory.service.end() && at->job == job ? &*at : nullptr;
}

}  // namespace rubato
