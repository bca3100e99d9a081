// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/write_back.h"

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "lib/policy/algorithms/job_history.h"
#include "plugin/slurm/read/node_slots.h"
#include "plugin/slurm/stock/slurm_headers.h"

namespace rubato {

namespace {

// What a job is short of may change with every start and end of other jobs; a reason is kept for
// this long.
constexpr Seconds kWordsKeep = 10;

job_record_t* pending_record(const JobKey& key) {
  job_record_t* job = find_job_record(key.id);
  if (job == nullptr || job->details == nullptr || !IS_JOB_PENDING(job) || IS_JOB_COMPLETING(job) ||
      job->details->submit_time != key.submit)
    return nullptr;
  return job;
}

// Reasons that only mean "not yet"; Rubato does not replace others.
bool may_explain(const job_record_t& job) {
  return job.state_reason == WAIT_NO_REASON || job.state_reason == WAIT_PRIORITY ||
         job.state_reason == WAIT_RESOURCES;
}

// Managed jobs that stock backfill plans: their start and nodes in the record are its answer.
std::vector<JobId> asked_jobs(const Snapshot& snapshot, const Plan& plan, const Pair& pair) {
  std::vector<JobId> asked;
  const std::shared_ptr<const Config> config = pair.config();
  if (config == nullptr) return asked;
  for (const Job& job : snapshot.jobs) {
    if (job.state != JobState::kPending || !job.managed) continue;
    const JobMemory* memory = memory_of(plan.memory, job.key);
    if (memory != nullptr && left_to_backfill(job, *memory, *config)) asked.push_back(job.key.id);
  }
  return asked;
}

}  // namespace

bool WriteBack::write_job(const Job& job, const Explanation& explanation,
                          const Reservation* reservation, const std::string& nodes, Seconds now,
                          bool asked) {
  job_record_t* record = pending_record(job.key);
  if (record == nullptr) return false;
  Written& last = written_[job.key];
  bool changed = false;
  if (may_explain(*record)) {
    const std::string& words = explanation.word;
    const char* before = record->state_desc != nullptr ? record->state_desc : "";
    const bool cleared = last.words != before;  // stock Slurm has tested the job since
    if (words != before && (cleared || now - last.at >= kWordsKeep)) {
      xfree(record->state_desc);
      if (!words.empty()) record->state_desc = xstrdup(words.c_str());
      if (record->state_reason == WAIT_NO_REASON)
        record->state_reason = reservation != nullptr ? WAIT_RESOURCES : WAIT_PRIORITY;
      last.words = words;
      last.at = now;
      changed = true;
    }
  }
  const bool shown = reservation != nullptr && reservation->start < kForever && !asked;
  const Seconds start = shown ? reservation->start : 0;
  const bool ours_to_clear = start == 0 && last.start != 0 && record->start_time == last.start;
  if (start != 0 ? record->start_time != start : ours_to_clear) {
    record->start_time = start;
    changed = true;
  }
  if (start != 0 ? xstrcmp(record->sched_nodes, nodes.c_str()) != 0 : ours_to_clear) {
    xfree(record->sched_nodes);
    if (start != 0) record->sched_nodes = xstrdup(nodes.c_str());
    changed = true;
  }
  last.start = start;
  last.nodes = nodes;
  return changed;
}

void WriteBack::reserve(const Snapshot& snapshot, const Plan& plan, Pair& pair) {
  const NodeSlots slots(snapshot);
  std::map<JobKey, const Reservation*> reservations;
  for (const Reservation& one : plan.reservations) reservations.try_emplace(one.job, &one);
  std::vector<ReservedNodes> reserved;
  if (!reservations.empty())
    for (const Job& job : snapshot.jobs) {
      if (job.state != JobState::kPending || !job.managed) continue;
      const auto kept = reservations.find(job.key);
      if (kept == reservations.end()) continue;
      if (auto indices = slots.of(kept->second->shares))
        reserved.push_back({.job = job.key.id,
                            .start = kept->second->start,
                            .tier = job.tier,
                            .priority = job.priority,
                            .nodes = std::move(*indices)});
      reservations.erase(kept);  // only a job's first entry counts
    }
  pair.set_reserved(std::move(reserved));
}

void WriteBack::write(const Snapshot& snapshot, const Plan& plan, Pair& pair) {
  const NodeSlots slots(snapshot);
  std::map<JobKey, const Explanation*> explanations;
  for (const Explanation& one : plan.explanations) {
    // A job in several partitions shows its best explanation.
    const auto [at, fresh] = explanations.try_emplace(one.job, &one);
    if (!fresh && one.verdict < at->second->verdict) at->second = &one;
  }
  std::map<JobKey, const Reservation*> reservations;
  for (const Reservation& one : plan.reservations) reservations.try_emplace(one.job, &one);

  std::vector<JobId> asked = asked_jobs(snapshot, plan, pair);
  std::set<JobKey> seen;
  bool changed = false;
  for (const Job& job : snapshot.jobs) {
    if (job.state != JobState::kPending || !job.managed || !seen.insert(job.key).second) continue;
    const auto told = explanations.find(job.key);
    if (told == explanations.end()) continue;
    const auto kept = reservations.find(job.key);
    const Reservation* reservation = kept != reservations.end() ? kept->second : nullptr;
    std::string nodes;
    if (reservation != nullptr) {
      const auto indices = slots.of(reservation->shares);
      if (!indices) continue;
      nodes = hostlist_of(*indices);
    }
    const bool by_backfill = std::ranges::find(asked, job.key.id) != asked.end();
    changed = write_job(job, *told->second, reservation, nodes, plan.made, by_backfill) || changed;
  }
  std::erase_if(written_, [&](const auto& one) { return !seen.contains(one.first); });
  reserve(snapshot, plan, pair);
  pair.set_asked(std::move(asked));
  if (changed) last_job_update = time(nullptr);
}

void WriteBack::clear(Pair& pair) {
  pair.set_reserved({});
  pair.set_asked({});
  bool changed = false;
  for (const auto& [key, last] : written_) {
    job_record_t* job = pending_record(key);
    if (job == nullptr) continue;
    if (xstrcmp(job->state_desc, last.words.c_str()) == 0 && !last.words.empty()) {
      xfree(job->state_desc);
      changed = true;
    }
    if (last.start != 0 && job->start_time == last.start) {
      job->start_time = 0;
      xfree(job->sched_nodes);
      changed = true;
    }
  }
  written_.clear();
  if (changed) last_job_update = time(nullptr);
}

}  // namespace rubato
