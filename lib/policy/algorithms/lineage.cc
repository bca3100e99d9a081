// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/lineage.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <vector>

#include "lib/policy/algorithms/restarts.h"
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
template <typename Records>
auto records_of(Records& records, const JobKey& job) {
  using Record = typename Records::value_type;
  const JobKey first{job.id, std::numeric_limits<Seconds>::min()};
  const auto begin = std::ranges::lower_bound(records, first, {}, &Record::job);
  return std::ranges::subrange(begin, std::ranges::upper_bound(records, job, {}, &Record::job));
}

template <typename Record>
bool has_earlier(const std::vector<Record>& records, const JobKey& job) {
  const auto own = records_of(records, job);
  return !own.empty() && own.front().job != job;
}

// Keeps the last of them by `time`, under the job's key. `move` may close the run before.
template <typename Record, typename Time, typename Move>
void follow(std::vector<Record>& records, const JobKey& job, Time time, Move move) {
  const auto own = records_of(records, job);
  if (own.empty()) return;
  auto last = own.begin();
  for (auto at = own.begin(); at != own.end(); ++at)
    if (std::invoke(time, *at) >= std::invoke(time, *last)) last = at;
  if (last->job != job) move(*last);
  last->job = job;
  if (last != own.begin()) std::iter_swap(last, own.begin());
  records.erase(std::next(own.begin()), own.end());
}

}  // namespace

std::optional<Memory> follow_requeues(const Snapshot& snapshot) {
  std::set<JobKey> requeued = requeued_jobs(snapshot.jobs);
  std::erase_if(requeued, [&](const JobKey& job) {
    const Memory& memory = snapshot.memory;
    return !has_earlier(memory.service, job) && !has_earlier(memory.progress, job) &&
           !has_earlier(memory.progress_histories, job) && !has_earlier(memory.restarts, job) &&
           !has_earlier(memory.size_histories, job) && !has_earlier(memory.size_holds, job);
  });
  const bool planned = std::ranges::any_of(
      snapshot.memory.restarts, [](const JobRestarts& record) { return record.planned > 0; });
  if (requeued.empty() && !planned) return std::nullopt;
  Memory memory = snapshot.memory;
  const auto as_it_is = [](const auto& /*record*/) {};
  for (const JobKey& job : requeued) {
    // Its submit time is the moment in which its resources were free again.
    const Seconds ended = std::min(job.submit, snapshot.taken);
    follow(memory.service, job, &Service::updated,
           [&](Service& service) { end_run(service, ended); });
    follow(memory.progress, job, &Progress::time, as_it_is);
    follow(memory.progress_histories, job, &ProgressHistory::updated, as_it_is);
    follow(memory.restarts, job, &JobRestarts::planned, as_it_is);
    follow(
        memory.size_histories, job, [](const SizeHistory& one) { return one.job; }, as_it_is);
    follow(memory.size_holds, job, &SizeHold::since, as_it_is);
  }
  if (!count_requeues(snapshot, memory) && requeued.empty()) return std::nullopt;
  return memory;
}

}  // namespace rubato
