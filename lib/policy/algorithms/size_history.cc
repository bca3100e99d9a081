// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/size_history.h"

#include <algorithm>
#include <map>

#include "lib/core/resize_request.h"
#include "lib/policy/algorithms/growth_cap.h"

namespace rubato {
namespace {

using Histories = std::map<JobKey, SizeHistory>;

bool may_change(const Job& job) {
  return job.managed && job.hints && job.hints->resize != Resize::kNone;
}

void note_size(SizeHistory& history, int gpus) {
  if (gpus == 0) return;  // it waits, or runs on CPUs
  if (history.gpus > 0 && history.gpus != gpus) ++history.resizes;
  history.gpus = gpus;
}

// The change stays in the memory until the job runs again, or long enough for a round to see it.
void note_restart(SizeHistory& history, const Job& job, const AskedResize& change) {
  const bool restarted = change.requeued > 0 && !change.live && !change.starts;
  if (!restarted || change.job.id != job.key.id || job.restarts != change.runs + 1) return;
  history.reason = change.by_round    ? RestartReason::kRound
                   : change.rehearsal ? RestartReason::kRehearsal
                                      : RestartReason::kResize;
  history.restarts = job.restarts;
}

RestartReason reason_of(const Job& job, const SizeHistory* history) {
  if (job.restarts == 0) return RestartReason::kNone;
  if (history == nullptr || history->restarts != job.restarts) return RestartReason::kRequeue;
  return history->reason;
}

const SizeHistory* history_of(const Memory& memory, const JobKey& job) {
  const std::vector<SizeHistory>& all = memory.size_histories;
  const auto at = std::ranges::lower_bound(all, job, {}, &SizeHistory::job);
  return at != all.end() && at->job == job ? &*at : nullptr;
}

int gpus_of(const Start& start, const Job& job) {
  if (start.on_cpus) return 0;
  return start.gpus > 0 ? start.gpus : static_cast<int>(requested_gpus(job));
}

}  // namespace

std::vector<SizeHistory> follow_sizes(const Snapshot& snapshot,
                                      const std::set<JobKey>& remembered) {
  Histories histories;
  for (const SizeHistory& one : snapshot.memory.size_histories)
    if (remembered.contains(one.job)) histories.emplace(one.job, one);
  for (const Job& job : snapshot.jobs) {
    if (!may_change(job)) continue;
    SizeHistory& history = histories[job.key];
    history.job = job.key;
    if (job.state == JobState::kRunning) note_size(history, held_gpus(job));
    for (const AskedResize& change : snapshot.memory.asked_resizes)
      note_restart(history, job, change);
  }
  std::vector<SizeHistory> kept;
  for (const auto& [job, history] : histories)
    if (history.gpus > 0 || history.restarts > 0) kept.push_back(history);
  return kept;
}

void name_restarts(const Snapshot& snapshot, Plan& plan) {
  if (plan.starts.empty()) return;
  std::map<JobKey, const Job*> waiting;
  for (const Job& job : snapshot.jobs)
    if (job.state == JobState::kPending) waiting.try_emplace(job.key, &job);
  for (Start& start : plan.starts) {
    const auto job = waiting.find(start.job);
    if (!start.managed || job == waiting.end()) continue;
    const SizeHistory* const history = history_of(plan.memory, start.job);
    start.restart_reason = reason_of(*job->second, history);
    if (history != nullptr) {
      SizeHistory then = *history;
      note_size(then, gpus_of(start, *job->second));
      start.resizes = then.resizes;
    }
    if (may_change(*job->second))
      note_told(plan.memory, start.job, start.plan, start.batch, snapshot.taken);
  }
}

void note_told(Memory& memory, const JobKey& job, const std::string& plan, std::int64_t batch,
               Seconds now) {
  std::vector<SizeHistory>& all = memory.size_histories;
  auto at = std::ranges::lower_bound(all, job, {}, &SizeHistory::job);
  if (at == all.end() || at->job != job) {
    at = all.insert(at, SizeHistory{});
    at->job = job;
  }
  at->plan = plan;
  at->batch = batch;
  at->told = now;
}

void note_told_with(const AskedResize& change, Memory& memory, Seconds now) {
  if (change.plan.empty() && change.batch == 0) return;
  const SizeHistory* const found = history_of(memory, change.job);
  const SizeHistory before = found != nullptr ? *found : SizeHistory{};
  note_told(memory, change.job, change.plan.empty() ? before.plan : change.plan,
            change.batch == 0 ? before.batch : change.batch, now);
}

Seconds told_at(const Memory& memory, const JobKey& job) {
  const SizeHistory* const history = history_of(memory, job);
  return history != nullptr ? history->told : 0;
}

void fill_told(Snapshot& snapshot) {
  for (Job& job : snapshot.jobs) {
    if (job.state != JobState::kRunning) continue;
    const SizeHistory* const history = history_of(snapshot.memory, job.key);
    if (history != nullptr) {
      job.plan = history->plan;
      job.batch_size = history->batch;
    }
    const Progress* const report = progress_of(snapshot.memory, job.key);
    if (job.batch_size == 0 && report != nullptr) job.batch_size = report->batch;
  }
}

}  // namespace rubato
