// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/write_back.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lib/policy/algorithms/job_history.h"
#include "plugin/slurm/read/node_slots.h"
#include "plugin/slurm/release/slurm_headers.h"

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

// Nodes that have other GPUs than those of backfill_type(). Stock Slurm knows no hints, and might
// take another GPU of a node with several types.
std::vector<NodeIndex> closed_nodes(const Snapshot& snapshot, const Job& job) {
  std::vector<NodeIndex> closed;
  const std::string* const type = backfill_type(snapshot, job);
  if (type == nullptr) return closed;
  for (const NodeIndex node : indices<NodeIndex>(snapshot.nodes))
    if (!snapshot.nodes[node].has_only(*type)) closed.push_back(node);
  return closed;
}

// Managed jobs that stock backfill plans, sorted: their start and nodes in the record are its
// answer.
std::vector<const Job*> asked_jobs(const Snapshot& snapshot, const Plan& plan,
                                   const Config& config) {
  std::vector<const Job*> asked;
  for (const Job& job : snapshot.jobs) {
    if (job.state != JobState::kPending || !job.managed) continue;
    const JobMemory* memory = memory_of(plan.memory, job.key);
    if (memory != nullptr && left_to_backfill(snapshot, job, *memory, config))
      asked.push_back(&job);
  }
  std::ranges::sort(asked, {}, [](const Job* job) { return job->key.id; });
  return asked;
}

std::map<JobKey, const Explanation*> explanations_of(const Plan& plan) {
  std::map<JobKey, const Explanation*> found;
  for (const Explanation& one : plan.explanations) {
    // A job in several partitions shows its best explanation.
    const auto [at, fresh] = found.try_emplace(one.job, &one);
    if (!fresh && one.verdict < at->second->verdict) at->second = &one;
  }
  return found;
}

std::map<JobKey, const Reservation*> reservations_of(const Plan& plan) {
  std::map<JobKey, const Reservation*> found;
  for (const Reservation& one : plan.reservations) found.try_emplace(one.job, &one);
  return found;
}

// A reservation, and the job that it is for.
struct Holder {
  const Job* job;
  const Reservation* reservation;
};

std::vector<Holder> holders_of(const Snapshot& snapshot, const Plan& plan) {
  std::vector<Holder> holders;
  std::map<JobKey, const Reservation*> left = reservations_of(plan);
  for (const Job& job : snapshot.jobs) {
    if (left.empty()) break;
    if (job.state != JobState::kPending || !job.managed) continue;
    const auto kept = left.find(job.key);
    if (kept == left.end()) continue;
    holders.push_back({&job, kept->second});
    left.erase(kept);  // only a job's first entry counts
  }
  return holders;
}

// Calls `change` for each of `count` items under LockKind::kAct, in slices.
template <typename Change>
void in_slices(std::size_t count, const Config& config, LockTimes& times, const Change& change) {
  std::size_t next = 0;
  while (next < count) {
    const HeldLocks locks(LockKind::kAct, LockUse::kWrite, times,
                          !config.off(Mechanism::kServerCount));
    if (!locks.held()) return;
    bool changed = false;
    do changed = change(next++) || changed;
    while (next < count && locks.held_ms() < config.lock_slice_ms);
    if (changed) last_job_update = time(nullptr);
  }
}

}  // namespace

bool WriteBack::write_job(const Line& line, Seconds now) {
  job_record_t* record = pending_record(line.job);
  if (record == nullptr) return false;
  Written& last = *line.last;
  bool changed = false;
  if (may_explain(*record)) {
    const char* before = record->state_desc != nullptr ? record->state_desc : "";
    const bool cleared = last.words != before;  // stock Slurm has tested the job since
    if (line.words != before && (cleared || now - last.at >= kWordsKeep)) {
      xfree(record->state_desc);
      if (!line.words.empty()) record->state_desc = xstrdup(line.words.c_str());
      if (record->state_reason == WAIT_NO_REASON)
        record->state_reason = line.reserved ? WAIT_RESOURCES : WAIT_PRIORITY;
      last.words = line.words;
      last.at = now;
      changed = true;
    }
  }
  const Seconds start = line.start;
  const bool ours_to_clear = start == 0 && last.start != 0 && record->start_time == last.start;
  if (start != 0 ? record->start_time != start : ours_to_clear) {
    record->start_time = start;
    changed = true;
  }
  if (start != 0 ? xstrcmp(record->sched_nodes, line.nodes.c_str()) != 0 : ours_to_clear) {
    xfree(record->sched_nodes);
    if (start != 0) record->sched_nodes = xstrdup(line.nodes.c_str());
    changed = true;
  }
  last.start = start;
  last.nodes = line.nodes;
  return changed;
}

void WriteBack::reserve(const Snapshot& snapshot, const Plan& plan, const Config& config,
                        Pair& pair, LockTimes& times) {
  const std::vector<Holder> holders = holders_of(snapshot, plan);
  std::vector<ReservedNodes> reserved;
  if (!holders.empty()) {
    const HeldLocks locks(LockKind::kNodes, LockUse::kWrite, times,
                          !config.off(Mechanism::kServerCount));
    if (!locks.held()) return;
    const NodeSlots slots(snapshot);
    for (const Holder& holder : holders)
      if (auto indices = slots.of(holder.reservation->shares))
        reserved.push_back({.job = holder.job->key.id,
                            .start = holder.reservation->start,
                            .tier = holder.job->tier,
                            .priority = holder.job->priority,
                            .nodes = std::move(*indices)});
  }
  pair.set_reserved(std::move(reserved));
}

// A job of which a closed node is gone waits for the next round.
void WriteBack::ask(const Snapshot& snapshot, const std::vector<const Job*>& jobs,
                    const Config& config, Pair& pair, LockTimes& times) {
  if (jobs.empty()) return pair.set_asked({});
  std::vector<std::vector<NodeIndex>> closed;
  for (const Job* job : jobs) closed.push_back(closed_nodes(snapshot, *job));
  const HeldLocks locks(LockKind::kNodes, LockUse::kWrite, times,
                        !config.off(Mechanism::kServerCount));
  if (!locks.held()) return;
  const NodeSlots slots(snapshot);
  std::vector<AskedJob> asked;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (auto indices = slots.of(closed[i])) asked.push_back({jobs[i]->key.id, std::move(*indices)});
  pair.set_asked(std::move(asked));  // under the lock: the indices are of this table
}

std::vector<WriteBack::Line> WriteBack::lines_of(const Snapshot& snapshot, const Plan& plan,
                                                 const std::vector<const Job*>& asked) {
  const auto explanations = explanations_of(plan);
  const auto reservations = reservations_of(plan);
  std::set<JobKey> seen;
  std::vector<Line> lines;
  for (const Job& job : snapshot.jobs) {
    if (job.state != JobState::kPending || !job.managed || !seen.insert(job.key).second) continue;
    const auto told = explanations.find(job.key);
    if (told == explanations.end()) continue;
    Line line{.job = job.key,
              .words = told->second->word,
              .nodes = {},
              .start = 0,
              .reserved = false,
              .last = &written_[job.key]};
    if (const auto kept = reservations.find(job.key); kept != reservations.end()) {
      line.reserved = true;
      line.nodes = hostlist_of(snapshot, kept->second->shares);
      if (kept->second->start < kForever &&
          !std::ranges::binary_search(asked, job.key.id, {},
                                      [](const Job* one) { return one->key.id; }))
        line.start = kept->second->start;
    }
    lines.push_back(std::move(line));
  }
  std::erase_if(written_, [&](const auto& one) { return !seen.contains(one.first); });
  return lines;
}

void WriteBack::write(const Snapshot& snapshot, const Plan& plan, const Config& config, Pair& pair,
                      LockTimes& times) {
  const std::vector<const Job*> asked = asked_jobs(snapshot, plan, config);
  const std::vector<Line> lines = lines_of(snapshot, plan, asked);
  reserve(snapshot, plan, config, pair, times);
  ask(snapshot, asked, config, pair, times);
  in_slices(lines.size(), config, times,
            [&](std::size_t i) { return write_job(lines[i], plan.made); });
}

bool WriteBack::clear_job(const JobKey& key, const Written& last) {
  job_record_t* job = pending_record(key);
  if (job == nullptr) return false;
  bool changed = false;
  if (xstrcmp(job->state_desc, last.words.c_str()) == 0 && !last.words.empty()) {
    xfree(job->state_desc);
    changed = true;
  }
  if (last.start != 0 && job->start_time == last.start) {
    job->start_time = 0;
    xfree(job->sched_nodes);
    changed = true;
  }
  return changed;
}

void WriteBack::clear(const Config& config, Pair& pair, LockTimes& times) {
  pair.set_reserved({});
  pair.set_asked({});
  const std::vector<std::pair<JobKey, Written>> all(written_.begin(), written_.end());
  in_slices(all.size(), config, times,
            [&](std::size_t i) { return clear_job(all[i].first, all[i].second); });
  written_.clear();
}

}  // namespace rubato
