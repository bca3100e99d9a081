// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/explain/explain_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lib/policy/algorithms/size_holds.h"
#include "tools/rubato/explain/explain_parts.h"
#include "tools/rubato/explain/explain_running.h"
#include "tools/shared/job_facts.h"
#include "tools/shared/own_fields.h"

namespace rubato::tools {
namespace {

constexpr std::size_t kTextWidth = 78;
constexpr std::size_t kLabelWidth = 17;

/// "  label          value"; long values wrap under themselves.
void add_line(std::string& text, std::string_view label, std::string_view value) {
  bool first = true;
  for (const std::string& line : wrap(value, kTextWidth - kLabelWidth)) {
    text += fmt::format("  {:<{}}{}\n", first ? label : "", kLabelWidth - 2, line);
    first = false;
  }
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

std::string expected_start(const PlanEntry& entry, Seconds now) {
  const Explanation& e = *entry.explanation;
  if (entry.old_since > 0) return "unknown";
  if (e.verdict == Verdict::kStart || e.verdict == Verdict::kAttempt) return "now";
  const bool from = tells_earliest(e, now);
  const bool to = e.start_latest > 0 && e.start_latest < kForever;
  if (!from && !to) return "unknown";
  const auto in = [now](Seconds time) {
    if (time <= now) return std::string("now");
    return format_time(time) + " (in " + format_duration(time - now) + ")";
  };
  if (from && to && in(e.start_earliest) == in(e.start_latest)) return in(e.start_earliest);
  if (from && to) return fmt::format("between {} and {}", in(e.start_earliest), in(e.start_latest));
  return from ? "not before " + in(e.start_earliest) : "by " + in(e.start_latest);
}

std::string pending_text(Seconds eligible, Seconds now) {
  if (eligible > now) {
    return fmt::format("pending, eligible from {} (in {})", format_time(eligible),
                       format_duration(eligible - now));
  }
  return fmt::format("pending since {} ({})", format_time(eligible),
                     format_duration(now - eligible));
}

std::string share_text(const NodeShare& share, const Snapshot& snapshot) {
  std::string text = node_name(snapshot, share.node) + " (";
  for (const GpuCount& group : share.gpus) {
    text += fmt::format("{} {}, ", group.count, group.type.empty() ? "gpu" : group.type);
  }
  return text + fmt::format("{} {}, {} MiB)", share.cores, share.cores == 1 ? "core" : "cores",
                            share.memory);
}

std::string scheduled_by(const PlanEntry& entry, const Snapshot& snapshot,
                         const std::string& all_stock) {
  const Job& job = *entry.job;
  std::string why = why_unmanaged(job, snapshot);
  if (why.empty()) why = all_stock;
  if (!why.empty()) return "stock Slurm: " + why;
  const bool changes = entry.change != nullptr || entry.stay != nullptr || entry.resize != nullptr;
  if (job.state != JobState::kRunning || changes) return "Rubato";
  return "Rubato; by itself it does not change a running job";
}

/// What the last round decided about a running job, in mode elastic.
void add_round(std::string& text, const PlanEntry& entry, Seconds now) {
  const char* label = entry.old_since > 0 ? "Last round" : "This round";
  if (entry.change != nullptr) add_line(text, label, change_text(*entry.change, *entry.job));
  if (entry.stay != nullptr) add_line(text, label, stay_text(*entry.stay, *entry.job, now));
}

void add_pending(std::string& text, const PlanEntry& entry, Seconds now, bool color) {
  const Explanation* e = entry.explanation;
  if (e == nullptr) {
    add_line(text, "Verdict",
             "none yet: submitted after the last round, or not eligible before it");
    return;
  }
  if (entry.old_since > 0) {
    add_line(text, "Verdict",
             fmt::format("none now; the plan of {}, {} ago, said {}", format_time(entry.old_since),
                         format_duration(std::max<Seconds>(0, now - entry.old_since)),
                         to_string(e->verdict)));
  } else {
    text +=
        fmt::format("  {:<{}}{}: {}\n", "Verdict", kLabelWidth - 2,
                    paint(to_string(e->verdict), color_of(e->verdict), color), meaning(e->verdict));
  }
  if (!e->reason.empty()) {
    add_line(text, entry.old_since > 0 ? "Old reason" : "Reason", e->reason);
  }
  add_line(text, "Order", fmt::format("{}", e->order + 1));
  if (!e->gpu_type.empty()) add_line(text, "GPU type", e->gpu_type);
  if (!e->nodes.empty()) add_line(text, "Nodes", join(e->nodes));
  add_line(text, "Expected start", expected_start(entry, now));
  bool first = true;
  for (const auto& [name, value] : e->facts) {
    add_line(text, first ? "Facts" : "", fmt::format("{} = {}", name, value));
    first = false;
  }
}

std::string class_text(const ProgressHistory& progress_history) {
  if (progress_history.total <= 0) return "no: its reports do not contain its total work";
  if (progress_history.scored == 0) return "unknown: its forecasts are too recent to be scored";
  const std::string how = fmt::format("quality {1:.2f} of its last {0} forecasts of remaining time",
                                      progress_history.scored, progress_history.quality);
  if (progress_history.predictable) return "yes: " + how;
  return progress_history.due ? "yes, from the next full round on: " + how : "no: " + how;
}

/// The job's hints and its reported progress.
void add_training(std::string& text, const Job& job, const Snapshot& snapshot, Seconds now) {
  if (job.hints) {
    if (!job.hints->job_type.empty()) add_line(text, "Job type", job.hints->job_type);
    if (!job.hints->sizes.empty()) add_line(text, "Possible sizes", sizes_text(job.hints->sizes));
  }
  const Progress* progress = progress_of(snapshot.memory, job.key);
  if (progress == nullptr) return;
  std::string told = fmt::format("{} samples", progress->samples);
  if (job.hints && job.hints->work && job.hints->work->unit == WorkUnit::kSamples) {
    told += fmt::format(" of {}", job.hints->work->count);
  }
  add_line(
      text, "Last report",
      fmt::format("{}, {} samples/s, batch {}, {} ago", told, throughput_text(progress->throughput),
                  progress->batch, format_duration(std::max<Seconds>(0, now - progress->time))));
  const ProgressHistory* progress_history = progress_history_of(snapshot.memory, job.key);
  if (progress_history == nullptr) return;
  if (job.state == JobState::kRunning && progress_history->left >= 0) {
    add_line(text, "Remaining time",
             fmt::format("{} from then on; 90% prediction interval {} to {}",
                         format_duration(whole_seconds(progress_history->left)),
                         format_duration(whole_seconds(progress_history->left_low)),
                         format_duration(whole_seconds(progress_history->left_high))));
  }
  add_line(text, "Predictable", class_text(*progress_history));
}

void add_running(std::string& text, const Job& job, const Snapshot& snapshot, Seconds now) {
  add_line(text, "State",
           fmt::format("running since {} ({})", format_time(job.start),
                       format_duration(now - job.start)));
  bool first = true;
  for (const NodeShare& share : job.allocation) {
    add_line(text, first ? "Nodes" : "", share_text(share, snapshot));
    first = false;
  }
  add_line(text, "Time limit",
           job.time_limit >= kForever ? "UNLIMITED"
                                      : fmt::format("{}, until {}", format_duration(job.time_limit),
                                                    format_time(job.end_limit)));
}

/// The decision at the start, and the numbers behind it.
void add_decision(std::string& text, const StartRecord& record) {
  const Explanation& told = record.told;
  add_line(text, "Decided",
           fmt::format("at {}, in round {}{}", format_time(record.time), record.round,
                       record.kind == "start" ? "" : "; started by stock Slurm"));
  if (!told.reason.empty()) add_line(text, "Start reason", told.reason);
  bool first = true;
  for (const auto& [name, value] : told.facts) {
    add_line(text, first ? "Start facts" : "", fmt::format("{} = {}", name, value));
    first = false;
  }
}

/// The record about the job; null: none.
template <typename Record>
const Record* of_job(const std::vector<Record>& records, const JobKey& job) {
  const auto found = std::ranges::find(records, job, &Record::job);
  return found != records.end() ? &*found : nullptr;
}

}  // namespace

std::vector<PlanEntry> queue_of(const Snapshot& snapshot, const Plan& plan) {
  using Key = std::pair<JobKey, std::string>;
  std::map<Key, const Job*> jobs;
  for (const Job& job : snapshot.jobs) jobs.try_emplace({job.key, job.partition}, &job);
  std::set<Key> explained;
  std::vector<PlanEntry> entries;
  for (const Explanation& e : plan.explanations) {
    const auto it = jobs.find({e.job, e.partition});
    entries.push_back({it == jobs.end() ? nullptr : it->second, &e});
    explained.insert({e.job, e.partition});
  }
  std::stable_sort(entries.begin(), entries.end(), [](const PlanEntry& a, const PlanEntry& b) {
    return a.explanation->order < b.explanation->order;
  });
  for (const JobState state : {JobState::kPending, JobState::kRunning}) {
    for (const Job& job : snapshot.jobs) {
      if (job.state == state && !explained.contains({job.key, job.partition})) {
        entries.push_back({&job, nullptr});
      }
    }
  }
  for (PlanEntry& entry : entries) {
    if (entry.job == nullptr) continue;
    // A requeue changes the key.
    const auto& resizes = plan.memory.asked_resizes;
    const auto resize = std::ranges::find(resizes, entry.job->key.id,
                                          [](const AskedResize& one) { return one.job.id; });
    if (resize != resizes.end()) entry.resize = &*resize;
    if (entry.job->state != JobState::kRunning) continue;
    entry.hold = hold_of(plan.memory, entry.job->key, plan.made);
    entry.change = of_job(plan.changes, entry.job->key);
    entry.stay = of_job(plan.stays, entry.job->key);
  }
  return entries;
}

std::string why_unmanaged(const Job& job, const Snapshot& snapshot) {
  if (job.managed) return "";
  if (job.het) {
    const bool told = job.block == Block::kNone && !job.block_text.empty();
    return (told ? job.block_text
                 : "it is part of a heterogeneous job or has siblings in a federation") +
           "; only stock Slurm starts these";
  }
  for (const Partition& partition : snapshot.partitions) {
    if (partition.name == job.partition && !partition.managed) {
      return fmt::format("partition {} is not managed (ManagedPartitions= in rubato.conf)",
                         job.partition);
    }
  }
  if (!job.request.wants_gpus()) return "it requests no GPUs";
  return "Rubato leaves such jobs to Slurm (shards, MPS, GPU slices, several GPU types, GPUs per "
         "socket, burst buffers, gang-scheduled partitions, federations)";
}

std::string meaning(Verdict verdict) {
  switch (verdict) {
    case Verdict::kStart:
      return "Rubato starts it now";
    case Verdict::kAttempt:
      return "Rubato asks Slurm to start it now";
    case Verdict::kReserve:
      return "it waits for its reservation";
    case Verdict::kWait:
      return "it waits and has no reservation yet";
    case Verdict::kBlocked:
      return "Slurm does not let it start";
    case Verdict::kStock:
      return "stock Slurm decides";
  }
  return "";
}

std::string entry_text(const PlanEntry& entry, const Snapshot& snapshot,
                       const std::string& all_stock, Seconds now, bool color) {
  const Job* job = entry.job;
  if (job == nullptr) {
    std::string text = paint(fmt::format("Job {}, partition {}", entry.explanation->label,
                                         entry.explanation->partition),
                             Color::kBold, color) +
                       "\n";
    add_pending(text, entry, now, color);
    return text;
  }
  std::string text = paint(fmt::format("Job {} ({}) of {}, partition {}", job->label, job->name,
                                       job->user, job->partition),
                           Color::kBold, color) +
                     "\n";
  if (job->state == JobState::kRunning) {
    add_running(text, *job, snapshot, now);
  } else {
    add_line(text, "State", pending_text(job->eligible, now));
  }
  add_training(text, *job, snapshot, now);
  add_line(text, "Scheduled by", scheduled_by(entry, snapshot, all_stock));
  // Wrong hints that submission did not refuse: an admin, or another release, wrote the comment.
  if (!job->hint_error.empty()) {
    std::string words = job->hint_error;
    for (std::size_t at = 0; (at = words.find('\n', at)) != std::string::npos;) {
      words.replace(at, 1, "; ");
    }
    add_line(text, "Hints", "not used: error in the comment: " + words);
  }
  if (entry.resize != nullptr) add_line(text, "Resize", resize_text(*entry.resize));
  if (entry.hold != nullptr) add_line(text, "Size held", hold_text(*entry.hold, *job, now));
  if (const Exploration* one = exploration_of(*job, snapshot.memory))
    add_line(text, "Explores", exploration_text(*one));
  if (const ProfileCosts* costs = costs_of(*job, snapshot.memory))
    add_line(text, "Costs", costs_text(*costs) + ", by its job type");
  if (job->state == JobState::kPending) add_pending(text, entry, now, color);
  add_round(text, entry, now);
  if (job->state == JobState::kRunning && entry.started != nullptr)
    add_decision(text, *entry.started);
  return text;
}

std::string ended_text(const StartRecord& record, const std::optional<JobEnd>& end, bool color) {
  std::string text = paint(fmt::format("Job {}, partition {}", record.label, record.told.partition),
                           Color::kBold, color) +
                     "\n";
  const std::string state =
      end ? end_text(*end) : "ended; slurmctld no longer knows how, see sacct -j " + record.label;
  add_line(text, "State", state);
  add_line(text, "Ran",
           fmt::format("from {} to {} ({})", format_time(record.start), format_time(record.end),
                       format_duration(std::max<Seconds>(0, record.end - record.start))));
  if (const std::string measured = measured_text(record); !measured.empty())
    add_line(text, "Throughput", measured);
  for (const auto& [label, words] : summary_lines(record)) add_line(text, label, words);
  if (record.time != 0) add_decision(text, record);
  return text;
}

}  // namespace rubato::tools
