// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/lineage.h"

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "lib/policy/algorithms/service.h"

namespace rubato {
namespace {

std::set<JobKey> requeued_jobs(const std::vector<Job>& jobs) {
  std::set<JobKey> requeued;
  for (const Job& job : jobs)
    if (job.restarts > 0) requeued.insert(job.key);
  return requeued;
}

// The records of the job and of its earlier runs.
template <typename Record>
auto records_of(std::vector<Record>& records, const JobKey& job) {
  const JobKey first{job.id, std::numeric_limits<Seconds>::min()};
  const auto begin = std::ranges::lower_bound(records, first, {}, &Record::job);
  return std::ranges::subrange(begin, std::ranges::upper_bound(records, job, {}, &Record::job));
}

// Keeps the last of them by `time`, under the job's key. `move` may close the run before.
template <typename Record, typename Time, typename Move>
bool follow(std::vector<Record>& records, const JobKey& job, Time time, Move move) {
  const auto own = records_of(records, job);
  if (own.empty() || (own.size() == 1 && own.front().job == job)) return false;
  const auto last = std::ranges::max_element(own, std::ranges::less_equal{}, time);
  if (last->job != job) move(*last);
  last->job = job;
  if (last != own.begin()) std::iter_swap(last, own.begin());
  records.erase(std::next(own.begin()), own.end());
  return true;
}

}  // namespace

std::optional<Memory> follow_requeues(const Snapshot& snapshot) {
  const std::set<JobKey> requeued = requeued_jobs(snapshot.jobs);
  if (requeued.empty()) return std::nullopt;
  Memory memory = snapshot.memory;
  bool moved = false;
  const auto as_it_is = [](const auto& /*record*/) {};
  for (const JobKey& job : requeued) {
    moved |= follow(memory.service, job, &Service::updated,
                    [&](Service& service) { end_run(service, job.submit); });
    moved |= follow(memory.progress, job, &Progress::time, as_it_is);
    moved |= follow(memory.progress_histories, job, &ProgressHistory::updated, as_it_is);
  }
  if (!moved) return std::nullopt;
  return memory;
}

}  // namespace rubato
