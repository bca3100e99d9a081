// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/core/snapshot.h"

#include <algorithm>

namespace rubato {
namespace {

template <typename Entry>
const Entry* entry_of(const std::vector<Entry>& entries, const JobKey& job) {
  const auto at =
      std::lower_bound(entries.begin(), entries.end(), job,
                       [](const Entry& entry, const JobKey& key) { return entry.job < key; });
  return at != entries.end() && at->job == job ? &*at : nullptr;
}

}  // namespace

const Progress* progress_of(const Memory& memory, const JobKey& job) {
  return entry_of(memory.progress, job);
}

const ProgressHistory* progress_history_of(const Memory& memory, const JobKey& job) {
  return entry_of(memory.progress_histories, job);
}

const TypePredictability* type_predictability_of(const Memory& memory, const std::string& account,
                                                 const std::string& job_type) {
  const auto at =
      std::find_if(memory.types.begin(), memory.types.end(), [&](const TypePredictability& type) {
        return type.account == account && type.job_type == job_type;
      });
  return at != memory.types.end() ? &*at : nullptr;
}

const Service* service_of(const std::vector<Service>& service, const JobKey& job) {
  return entry_of(service, job);
}

const Service* service_of(const Memory& memory, const JobKey& job) {
  return entry_of(memory.service, job);
}

const JobMemory* memory_of(const Memory& memory, const JobKey& job) {
  return entry_of(memory.jobs, job);
}

}  // namespace rubato
