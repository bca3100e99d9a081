// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/singletons.h"

#include <algorithm>

#include "plugin/slurm/release/lists.h"

namespace rubato {

namespace {

// With an OR in the list another dependency may suffice.
bool waits_for_singleton(const job_record_t& job) {
  if (job.name == nullptr || job.details == nullptr || job.details->depend_list == nullptr)
    return false;
  bool waits = false;
  bool either = false;
  ListWalk<depend_spec_t> all(job.details->depend_list);
  while (const auto* one = all.next()) {
    either = either || (one->depend_flags & SLURM_FLAGS_OR) != 0;
    waits = waits || (one->depend_type == SLURM_DEPEND_SINGLETON &&
                      one->depend_state == DEPEND_NOT_FULFILLED &&
                      (one->depend_flags & SLURM_FLAGS_REMOTE) == 0);
  }
  return waits && !either;
}

}  // namespace

Singletons::Singletons(const std::vector<job_record_t*>& pending,
                       const std::vector<job_record_t*>& running) {
  for (const job_record_t* job : pending)
    if (waits_for_singleton(*job)) names_[job->user_id][job->name];
  if (names_.empty()) return;
  const auto holders_of = [&](const job_record_t& job) -> Holders* {
    const auto user = names_.find(job.user_id);
    if (user == names_.end() || job.name == nullptr) return nullptr;
    const auto name = user->second.find(job.name);
    return name != user->second.end() ? &name->second : nullptr;
  };
  for (const job_record_t* job : running)
    if (Holders* holders = holders_of(*job)) holders->running = true;
  for (const job_record_t* job : pending)
    if (Holders* holders = holders_of(*job))
      holders->first_pending = std::min(holders->first_pending, job->job_id);
}

bool Singletons::surely_waits(const job_record_t& job) const {
  const auto user = names_.find(job.user_id);
  if (user == names_.end() || !waits_for_singleton(job)) return false;
  const auto name = user->second.find(job.name);
  return name != user->second.end() &&
         (name->second.running || name->second.first_pending < job.job_id);
}

}  // namespace rubato
