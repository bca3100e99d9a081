// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/system_comment.h"

#include <algorithm>

#include "lib/json/job_annotation.h"
#include "lib/policy/algorithms/size_holds.h"
#include "plugin/slurm/release/lists.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

namespace {

constexpr Seconds kInterval = 60;

Seconds interval_of(const Config& config) {
  return static_cast<Seconds>(config.injected(Fault::kSegmentInterval).value_or(kInterval));
}

std::map<JobKey, const Explanation*> told_of(const Plan& plan) {
  std::map<JobKey, const Explanation*> told;
  for (const Explanation& one : plan.explanations) {
    // A job in several partitions shows its best explanation.
    const auto [at, fresh] = told.try_emplace(one.job, &one);
    if (!fresh && one.verdict < at->second->verdict) at->second = &one;
  }
  return told;
}

// True if the job's text changed. O(length of its comment).
bool apply_one(const JobKey& key, const std::string& text) {
  job_record_t* job = find_job_record(key.id);
  if (job == nullptr || job->details == nullptr || job->details->submit_time != key.submit ||
      IS_JOB_FINISHED(job))
    return false;
  const char* shown = job->system_comment != nullptr ? job->system_comment : "";
  const std::string wanted = with_annotation_text(shown, text);
  if (wanted == shown) return false;
  xfree(job->system_comment);
  if (!wanted.empty()) job->system_comment = xstrdup(wanted.c_str());
  return true;
}

}  // namespace

std::vector<SystemComments::Change> SystemComments::due(const Snapshot& snapshot, const Plan& plan,
                                                        const Config& config) {
  const auto told = told_of(plan);
  const Seconds interval = interval_of(config);
  std::vector<Change> changes;
  std::map<JobKey, Written> kept;
  for (const Job& job : snapshot.jobs) {
    if (!job.managed || kept.contains(job.key)) continue;
    auto node = written_.extract(job.key);
    const bool fresh = node.empty();
    Written& last = kept[job.key];
    if (!fresh) last = std::move(node.mapped());
    const auto at = told.find(job.key);
    // A pending job without an explanation is held or dependent: its annotation stays unchanged.
    const Explanation* explanation = at != told.end() ? at->second : nullptr;
    JobAnnotation now =
        annotation_of(job, explanation, progress_of(plan.memory, job.key),
                      service_of(plan.memory, job.key), progress_history_of(plan.memory, job.key));
    now.held = hold_of(plan.memory, job.key, snapshot.taken) != nullptr;
    const bool first_report = last.annotation.throughput < 0 && now.throughput >= 0;
    const bool first_forecast = last.annotation.remaining < 0 && now.remaining >= 0;
    const bool turned = fresh || last.state != job.state || last.annotation.gpus != now.gpus ||
                        last.annotation.held != now.held || first_report || first_forecast;
    const Seconds age = snapshot.taken - last.at;
    if (!turned && age >= 0 && age < interval) continue;
    if (!turned && !differs(last.annotation, now)) continue;
    std::string text = render_annotation(now);
    last.annotation = now;
    last.state = job.state;
    if (text == last.text) continue;
    last.at = snapshot.taken;
    last.text = text;
    changes.push_back({job.key, std::move(text)});
  }
  // Jobs that Rubato no longer manages; for most of them the record is gone too.
  for (const auto& [key, last] : written_)
    if (last.state == JobState::kPending) changes.push_back({key, {}});
  written_ = std::move(kept);
  return changes;
}

void SystemComments::apply(const std::vector<Change>& changes, const Config& config,
                           LockTimes& times) {
  std::size_t next = 0;
  while (next < changes.size()) {
    const HeldLocks locks(LockKind::kAct, LockUse::kWrite, times,
                          !config.off(Mechanism::kServerCount));
    if (!locks.held()) return;
    bool changed = false;
    do {
      changed = apply_one(changes[next].job, changes[next].text) || changed;
      ++next;
    } while (next < changes.size() && locks.held_ms() < config.lock_slice_ms);
    if (changed) last_job_update = time(nullptr);
  }
}

void SystemComments::write(const Snapshot& snapshot, const Plan& plan, const Config& config,
                           LockTimes& times) {
  if (config.off(Mechanism::kSegment)) return;
  apply(due(snapshot, plan, config), config, times);
}

void SystemComments::clear_all(const Config& config, LockTimes& times) {
  std::vector<Change> changes;
  {
    const HeldLocks locks(LockKind::kLook, LockUse::kPeek, times,
                          !config.off(Mechanism::kServerCount));
    if (!locks.held()) return;
    for (ListWalk<job_record_t> jobs(job_list); const job_record_t* job = jobs.next();)
      if (IS_JOB_PENDING(job) && job->details != nullptr && job->system_comment != nullptr &&
          with_annotation_text(job->system_comment, {}) != job->system_comment)
        changes.push_back({{job->job_id, job->details->submit_time}, {}});
  }
  apply(changes, config, times);
}

void SystemComments::clear(const Config& config, LockTimes& times) {
  std::vector<Change> changes;
  for (const auto& [key, last] : written_)
    if (last.state == JobState::kPending) changes.push_back({key, {}});
  written_.clear();
  apply(changes, config, times);
}

}  // namespace rubato
