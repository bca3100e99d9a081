// SPDX-License-Identifier: GPL-2.0-or-later
// What the recorder takes from each round.
#include <algorithm>
#include <utility>

#include "lib/base/json_reader.h"
#include "lib/json/json.h"
#include "lib/model/throughput/better_request.h"
#include "lib/policy/memory.h"
#include "lib/runtime/recorder.h"

namespace rubato {
namespace {

constexpr Seconds kRecordEvery = 60;  // attained service of a job, at most so often
constexpr Seconds kHoldMessage = 5;   // for a job that the next snapshot should show

// What a decision says, without what moves from round to round.
std::string mark_of(const Explanation& told) {
  std::string mark = std::string(to_string(told.verdict)) + " " + told.gpu_type;
  for (const std::string& node : told.nodes) mark += " " + node;
  return mark;
}

const char* kind_of(Verdict verdict, Mode mode) {
  const bool acts = mode != Mode::kObserve;
  if (verdict == Verdict::kStart) return acts ? "start" : "would-start";
  return acts ? "reserve" : "would-reserve";
}

}  // namespace

void Recorder::record_round(const Snapshot& snapshot, const Plan& plan, Memory& memory,
                            std::uint64_t started) {
  news_ = false;
  const RunningJobs::RunChanges change = running_jobs_.update(snapshot);
  ended_ = change.left;
  process_held_messages(snapshot, memory);
  record_jobs(snapshot, change);
  record_progress_histories(snapshot, change, memory);
  for (store::RunRecord& run : runs_.update(snapshot, change, running_jobs_, config_->mode))
    push(std::move(run));
  record_decisions(snapshot, plan);
  starts_.record_round(snapshot, plan, change, running_jobs_,
                       kind_of(Verdict::kStart, config_->mode));
  record_periods(snapshot, plan, change, started);
}

void Recorder::process_held_messages(const Snapshot& snapshot, Memory& memory) {
  std::erase_if(held_, [&](const JobMessage& message_in) {
    if (deliver(message_in, memory)) return true;
    const bool late = snapshot.taken - message_in.time > kHoldMessage;
    if (late) ++stats_.unknown;
    return late;
  });
}

void Recorder::record_jobs(const Snapshot& snapshot, const RunningJobs::RunChanges& change) {
  for (const JobKey& key : change.left) {
    RunFacts* facts = running_jobs_.find(key);
    if (facts != nullptr && facts->managed) store_job(key, *facts, snapshot.taken);
  }
  for (auto& [key, facts] : running_jobs_.all()) {
    if (!facts.managed || facts.left != 0) continue;
    // After a restart of slurmctld samples and service begin with what the memory has.
    if (facts.recorded == 0 || snapshot.taken - facts.recorded >= kRecordEvery)
      store_job(key, facts, snapshot.taken);
  }
}

void Recorder::record_progress_histories(const Snapshot& snapshot,
                                         const RunningJobs::RunChanges& change, Memory& memory) {
  for (const JobKey& key : change.left) {
    const RunFacts* facts = running_jobs_.find(key);
    if (facts == nullptr) continue;
    const store::JobType type = type_of(*facts);
    fold_ended(key, type.shared ? "" : type.account, type.name, snapshot.taken, memory);
  }
}

void Recorder::record_works(const std::vector<JobKey>& completed, Memory& memory) {
  for (const JobKey& key : completed) {
    const RunFacts* facts = running_jobs_.find(key);
    if (facts == nullptr) continue;
    const store::JobType type = type_of(*facts);
    fold_work(key, {type.shared ? "" : type.account, type.name}, facts->left, memory);
  }
}

void Recorder::record_statements(const std::vector<JobKey>& completed, Memory& memory) {
  for (const JobKey& key : ended_) {
    const RunFacts* facts = running_jobs_.find(key);
    if (facts == nullptr || !facts->managed) continue;
    const bool ended_itself = std::ranges::find(completed, key) != completed.end();
    fold_statement(key, {facts->account, facts->work, ended_itself}, facts->left, memory);
  }
}

std::vector<std::shared_ptr<const StartRecord>> Recorder::summarise(
    const std::vector<JobKey>& completed, const Models& models) {
  std::vector<std::shared_ptr<const StartRecord>> records;
  if (config_->off(Mechanism::kJobSummary)) return records;
  for (const JobKey& key : ended_) {
    const RunFacts* facts = running_jobs_.find(key);
    if (facts == nullptr || starts_.ended(key) == nullptr) continue;
    BetterPlace better;
    if (models.throughput_model() != nullptr) {
      const store::JobType type = type_of(*facts);
      const auto found =
          better_request(*models.throughput_model(), {type.shared ? "" : type.account, type.name},
                         facts->held.type, facts->held.gpus);
      if (found) better = {found->gpu_type, found->gpus, found->ratio, found->low, found->high};
    }
    const bool ended_itself = std::ranges::find(completed, key) != completed.end();
    starts_.sum_up(key, *facts, ended_itself, better);
    records.push_back(starts_.ended(key));
    if (facts->managed && ended_itself && facts->restarts == 0 && facts->eligible > 0)
      periods_.at(facts->left, to_string(config_->mode))
          .completions.add(std::max<Seconds>(0, facts->left - facts->eligible));
  }
  return records;
}

void Recorder::record_changes(const std::vector<AskedResize>& steps, Seconds now) {
  ChangeCount count;
  for (const AskedResize& one : steps) {
    if (one.measured) {
      ++count.measured;
      count.cost += one.cost;
    } else if (one.step == ResizeStep::kFailed) {
      ++count.failed;
    } else if (one.step == ResizeStep::kDone) {
      std::int64_t& of_kind = one.gpus == 0         ? count.stopped
                              : !one.live           ? count.restarted
                              : one.gpus > one.from ? count.grown
                                                    : count.shrunk;
      ++of_kind;
      count.gain += one.gain;
    }
  }
  if (count != ChangeCount{}) periods_.at(now, to_string(config_->mode)).changes.add(count);
}

void Recorder::record_decisions(const Snapshot& snapshot, const Plan& plan) {
  std::map<JobKey, const Explanation*> decided;
  for (const Explanation& told : plan.explanations) {
    if (told.verdict != Verdict::kStart && told.verdict != Verdict::kReserve) continue;
    // Of a job in several partitions the best counts.
    const auto [at, fresh] = decided.try_emplace(told.job, &told);
    if (!fresh && told.verdict < at->second->verdict) at->second = &told;
  }
  for (const auto& [job, told] : decided) {
    std::string mark = mark_of(*told);
    RecordedDecision& last = told_[job];
    if (last.decision == mark) continue;
    last.decision = std::move(mark);
    push(store::Decision{.job = job,
                         .time = plan.made,
                         .kind = kind_of(told->verdict, config_->mode),
                         .text = to_json(*told)});
  }
  for (const JobMemory& memory : plan.memory.jobs)
    if (memory.refusals > 0) record_refusal(memory, plan.made);
  if (told_.empty()) return;
  std::vector<JobKey> pending;
  for (const Job& job : snapshot.jobs)
    if (job.state == JobState::kPending) pending.push_back(job.key);
  std::sort(pending.begin(), pending.end());
  std::erase_if(told_, [&](const auto& one) {
    return !std::binary_search(pending.begin(), pending.end(), one.first);
  });
}

void Recorder::record_refusal(const JobMemory& memory, Seconds now) {
  RecordedDecision& last = told_[memory.job];
  if (last.refusal == memory.refusal) return;
  last.refusal = memory.refusal;
  const JsonValue text{{"refusal", memory.refusal}, {"refusals", memory.refusals}};
  push(store::Decision{.job = memory.job, .time = now, .kind = "refusal", .text = json_text(text)});
}

void Recorder::record_periods(const Snapshot& snapshot, const Plan& plan,
                              const RunningJobs::RunChanges& change, std::uint64_t started) {
  const bool observes = config_->mode == Mode::kObserve;
  Period& period = periods_.at(snapshot.taken, to_string(config_->mode));
  period.started += static_cast<std::int64_t>(started);
  period.gpu_seconds += change.gpu_seconds;
  for (const JobKey& key : change.fresh) {
    const RunFacts* facts = running_jobs_.find(key);
    // Those that ran when slurmctld came up are counted already, or started without us.
    if (facts == nullptr || !facts->managed || facts->start < periods_.until) continue;
    const Seconds wait = std::max<Seconds>(0, facts->start - facts->eligible);
    period.waits.add(wait);
    period.by_partition[facts->partition].add(wait);
    period.by_job_type[facts->job_type].add(wait);
    if (!observes) continue;
    const auto said = said_.find(key);
    if (said != said_.end() && said->second < facts->start)
      period.earlier.add(facts->start - said->second);
    else
      ++period.not_earlier;
  }
  periods_.until = std::max(periods_.until, snapshot.taken);
  if (!observes) {
    said_.clear();
    return;
  }
  std::map<JobKey, Seconds> waiting;  // jobs that are gone are forgotten
  for (const Explanation& told : plan.explanations) {
    const auto said = said_.find(told.job);
    if (said != said_.end())
      waiting.insert(*said);
    else if (told.verdict == Verdict::kStart)
      waiting.emplace(told.job, plan.made);
  }
  said_.swap(waiting);
}

}  // namespace rubato
