// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/start_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include "lib/base/text.h"

namespace rubato {

namespace {

constexpr std::size_t kNodesShown = 8;

// An array has one explanation, with the nodes of its first task. Each task has nodes of its own,
// and perhaps another GPU type.
Explanation told_of_task(Explanation told, const Job& task, const Snapshot& snapshot) {
  std::vector<std::string> nodes;
  int cores = 0;
  for (const NodeShare& share : task.allocation) {
    nodes.push_back(snapshot.nodes[share.node].name);
    cores += share.cores;
  }
  if (nodes == told.nodes) return told;
  const HeldGpus held = held_gpus(task.allocation);
  std::string reason = "starts on " + list_text(nodes, kNodesShown);
  if (held.gpus > 0) {
    reason += fmt::format(" with {} {} of type {}", held.gpus, held.gpus == 1 ? "GPU" : "GPUs",
                          held.type);
  }
  const std::map<std::string, std::string> facts{{"start_nodes", list_text(nodes, kNodesShown)},
                                                 {"gpus", std::to_string(held.gpus)},
                                                 {"gpu_type", held.type},
                                                 {"cores", std::to_string(cores)}};
  for (auto& [name, value] : told.facts) {
    if (const auto found = facts.find(name); found != facts.end()) value = found->second;
  }
  const std::size_t rest = told.reason.find(';');
  told.reason = reason + (rest == std::string::npos ? "" : told.reason.substr(rest));
  told.nodes = std::move(nodes);
  told.gpu_type = held.type;
  return told;
}

// The number at the begin of a fact such as "812 samples/s (480 reports, within 3 %)"; 0: none.
double number_of(const Explanation& told, const std::string& fact) {
  for (const auto& [name, value] : told.facts)
    if (name == fact) return std::strtod(value.c_str(), nullptr);
  return 0;
}

// What was forecast at the start, for the GPUs that the job got.
double forecast_at_start(const Explanation& told) {
  for (const SizeOutcome& size : told.sizes)
    if (size.outcome == "taken" && size.throughput > 0) return size.throughput;
  const double given = number_of(told, "rate_given");
  return given > 0 ? given : number_of(told, "rate." + told.gpu_type);
}

RunSummary summary_of(const RunFacts& facts, const Explanation& told) {
  RunSummary summary;
  summary.eligible = facts.eligible;
  summary.gpu_type = facts.held.type;
  summary.gpus = facts.held.gpus;
  summary.nodes = facts.nodes;
  summary.gpu_seconds = facts.attained;
  summary.restarts = facts.restarts;
  summary.forecast = forecast_at_start(told);
  summary.time_limit = facts.time_limit < kForever ? facts.time_limit : 0;
  return summary;
}

}  // namespace

void StartHistory::restore(StartRecords records) {
  for (auto& record : records) {
    const JobKey job = record->job;
    records_.insert_or_assign(job, std::move(record));
  }
  restored_ = true;
  changed_ = true;
}

// Of a job that was there before the first round nothing is known but what was restored.
void StartHistory::begin(const Job& job, const Snapshot& snapshot) {
  const auto known = records_.find(job.key);
  if (known != records_.end() && known->second->start == job.start) return;
  auto told = told_.find(job.key.id);
  if (told == told_.end() && job.array_id != 0) told = told_.find(job.array_id);
  if (told == told_.end()) return;
  const PlannedStart& from = told->second;
  const bool task = job.array_id != 0 && from.told.verdict == Verdict::kStart;
  Explanation decision = task ? told_of_task(from.told, job, snapshot) : from.told;
  records_.insert_or_assign(
      job.key, std::make_shared<const StartRecord>(StartRecord{.job = job.key,
                                                               .label = job.label,
                                                               .kind = from.kind,
                                                               .time = from.time,
                                                               .round = from.round,
                                                               .start = job.start,
                                                               .end = 0,
                                                               .told = std::move(decision)}));
  changed_ = true;
}

void StartHistory::end(const JobKey& job, Seconds now, const RunFacts* facts) {
  const auto found = records_.find(job);
  if (found == records_.end() || found->second->end != 0) return;
  StartRecord ended = *found->second;
  ended.end = std::max<Seconds>(now, 1);
  if (facts != nullptr && facts->start == ended.start) {
    ended.samples = facts->samples;
    ended.throughput = facts->throughput;
  }
  found->second = std::make_shared<const StartRecord>(std::move(ended));
  changed_ = true;
}

void StartHistory::sum_up(const JobKey& job, const RunFacts& facts, bool completed,
                          const BetterPlace& better) {
  const auto found = records_.find(job);
  if (found == records_.end() || found->second->end == 0 || found->second->start != facts.start)
    return;
  StartRecord ended = *found->second;
  ended.summary = summary_of(facts, ended.told);
  ended.summary.completed = completed;
  ended.summary.better = better;
  found->second = std::make_shared<const StartRecord>(std::move(ended));
  changed_ = true;
}

std::shared_ptr<const StartRecord> StartHistory::ended(const JobKey& job) const {
  const auto found = records_.find(job);
  return found != records_.end() && found->second->end != 0 ? found->second : nullptr;
}

void StartHistory::report_last(const JobKey& job, const RunFacts& facts) {
  const auto found = records_.find(job);
  if (found == records_.end() || found->second->start != facts.start) return;
  StartRecord ended = *found->second;
  ended.samples = facts.samples;
  ended.throughput = facts.throughput;
  found->second = std::make_shared<const StartRecord>(std::move(ended));
  changed_ = true;
}

// Runs that ended between two snapshots.
void StartHistory::settle_restored(const Snapshot& snapshot) {
  if (!std::exchange(restored_, false)) return;
  std::set<JobKey> running;
  for (const Job& job : snapshot.jobs)
    if (job.state == JobState::kRunning) running.insert(job.key);
  std::vector<JobKey> gone;
  for (const auto& [key, record] : records_)
    if (!running.contains(key)) gone.push_back(key);
  for (const JobKey& key : gone) end(key, snapshot.taken, nullptr);
}

void StartHistory::forget(Seconds now) {
  std::vector<std::pair<Seconds, JobKey>> ended;
  for (const auto& [key, record] : records_)
    if (record->end != 0) ended.emplace_back(record->end, key);
  std::sort(ended.begin(), ended.end());
  const std::size_t over = ended.size() > kMaxEnded ? ended.size() - kMaxEnded : 0;
  for (std::size_t i = 0; i < ended.size(); ++i) {
    if (i >= over && now - ended[i].first <= kKeepEnded) break;
    records_.erase(ended[i].second);
    changed_ = true;
  }
}

void StartHistory::keep_told(const Snapshot& snapshot, const Plan& plan, const std::string& kind) {
  std::set<JobId> pending;
  std::set<JobId> managed;
  for (const Job& job : snapshot.jobs) {
    if (job.state != JobState::kPending) continue;
    pending.insert(job.key.id);
    if (job.managed) managed.insert(job.key.id);
  }
  std::erase_if(told_, [&](const auto& one) { return !pending.contains(one.first); });
  for (const Explanation& told : plan.explanations) {
    const bool starts = told.verdict == Verdict::kStart || told.verdict == Verdict::kAttempt;
    if (!starts || !managed.contains(told.job.id)) continue;
    told_.insert_or_assign(told.job.id, PlannedStart{told, kind, plan.made, plan.round});
  }
}

void StartHistory::record_round(const Snapshot& snapshot, const Plan& plan,
                                const RunningJobs::RunChanges& change, RunningJobs& runs,
                                const std::string& kind) {
  settle_restored(snapshot);
  if (!change.fresh.empty()) {
    std::set<JobKey> fresh(change.fresh.begin(), change.fresh.end());
    for (const Job& job : snapshot.jobs) {
      const RunFacts* facts = fresh.contains(job.key) ? runs.find(job.key) : nullptr;
      if (facts != nullptr && facts->managed && job.state == JobState::kRunning)
        begin(job, snapshot);
    }
  }
  for (const JobKey& key : change.left) end(key, snapshot.taken, runs.find(key));
  forget(snapshot.taken);
  keep_told(snapshot, plan, kind);
}

std::string StartHistory::plan_told(const JobKey& job) const {
  const auto record = records_.find(job);
  if (record == records_.end()) return {};
  for (const auto& [name, value] : record->second->told.facts) {
    if (name == kPlanGiven) return value;
  }
  return {};
}

std::shared_ptr<const StartRecords> StartHistory::records() {
  if (std::exchange(changed_, false)) {
    auto all = std::make_shared<StartRecords>();
    for (const auto& [key, record] : records_) all->push_back(record);
    last_ = std::move(all);
  }
  return last_;
}

}  // namespace rubato
