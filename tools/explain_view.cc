// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/explain_view.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <map>
#include <set>

#include "tools/job_facts.h"
#include "tools/own_fields.h"

namespace rubato::tools {
namespace {

constexpr std::size_t kTextWidth = 78;
constexpr std::size_t kLabelWidth = 17;
constexpr std::size_t kLeastReason = 8;
constexpr std::size_t kGoodReason = 30;

Color color_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kStart:
    case Verdict::kAttempt:
      return Color::kGreen;
    case Verdict::kReserve:
    case Verdict::kWait:
      return Color::kYellow;
    case Verdict::kBlocked:
      return Color::kRed;
    case Verdict::kStock:
      break;
  }
  return Color::kPlain;
}

/// "  label          value", the value wrapped under itself.
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

/// "Not before now" alone would tell nothing.
bool tells_earliest(const Explanation& e, Seconds now) {
  const bool to = e.start_latest > 0 && e.start_latest < kForever;
  return e.start_earliest > 0 && (to || e.start_earliest > now);
}

std::string expected_start(const Explanation& e, Seconds now) {
  if (e.verdict == Verdict::kStart || e.verdict == Verdict::kAttempt) return "now";
  const bool from = tells_earliest(e, now);
  const bool to = e.start_latest > 0 && e.start_latest < kForever;
  if (!from && !to) return "not known";
  const auto in = [now](Seconds time) {
    if (time <= now) return std::string("now");
    return format_time(time) + " (in " + format_duration(time - now) + ")";
  };
  if (from && to && in(e.start_earliest) == in(e.start_latest)) return in(e.start_earliest);
  if (from && to) return fmt::format("between {} and {}", in(e.start_earliest), in(e.start_latest));
  return from ? "not before " + in(e.start_earliest) : "by " + in(e.start_latest);
}

std::string short_time(Seconds time, Seconds now) {
  if (time <= now) return "now";
  const std::time_t at = time;
  const std::time_t today = now;
  std::tm a{};
  std::tm b{};
  if (localtime_r(&at, &a) == nullptr || localtime_r(&today, &b) == nullptr) return "N/A";
  if (a.tm_year != b.tm_year) return fmt::format("{:%Y-%m-%d}", a);
  return a.tm_yday == b.tm_yday ? fmt::format("{:%H:%M}", a) : fmt::format("{:%m-%dT%H:%M}", a);
}

std::string short_start(const Explanation& e, Seconds now) {
  if (e.verdict == Verdict::kStart || e.verdict == Verdict::kAttempt) return "now";
  const bool from = tells_earliest(e, now);
  const bool to = e.start_latest > 0 && e.start_latest < kForever;
  if (!from && !to) return "N/A";
  const std::string first = from ? short_time(e.start_earliest, now) : "";
  const std::string last = to ? short_time(e.start_latest, now) : "";
  return first == last ? first : first + ".." + last;
}

std::string node_name(const Snapshot& snapshot, int node) {
  return snapshot.nodes.at(static_cast<std::size_t>(node)).name;
}

std::string share_text(const NodeShare& share, const Snapshot& snapshot) {
  std::string text = node_name(snapshot, share.node) + " (";
  for (const GpuCount& group : share.gpus) {
    text += fmt::format("{} {}, ", group.count, group.type.empty() ? "gpu" : group.type);
  }
  return text + fmt::format("{} {}, {} MiB)", share.cores, share.cores == 1 ? "core" : "cores",
                            share.memory);
}

std::string scheduled_by(const Job& job, const Snapshot& snapshot, const std::string& all_stock) {
  std::string why = why_unmanaged(job, snapshot);
  if (why.empty()) why = all_stock;
  if (!why.empty()) return "stock Slurm: " + why;
  return job.state == JobState::kRunning ? "Rubato; it does not touch a running job" : "Rubato";
}

void add_pending(std::string& text, const QueueEntry& entry, Seconds now, bool color) {
  const Explanation* e = entry.explanation;
  if (e == nullptr) {
    add_line(text, "Verdict", "none yet: it came after the last round, or has no turn before it");
    return;
  }
  text +=
      fmt::format("  {:<{}}{}: {}\n", "Verdict", kLabelWidth - 2,
                  paint(to_string(e->verdict), color_of(e->verdict), color), meaning(e->verdict));
  if (!e->reason.empty()) add_line(text, "Reason", e->reason);
  add_line(text, "Order", fmt::format("{}", e->order + 1));
  if (!e->gpu_type.empty()) add_line(text, "GPU type", e->gpu_type);
  if (!e->nodes.empty()) add_line(text, "Nodes", join(e->nodes));
  add_line(text, "Expected start", expected_start(*e, now));
  bool first = true;
  for (const auto& [name, value] : e->facts) {
    add_line(text, first ? "Facts" : "", name + " = " + value);
    first = false;
  }
}

Seconds whole(double seconds) { return static_cast<Seconds>(std::ceil(seconds)); }

std::string class_text(const Course& course) {
  if (course.total <= 0) return "no: its reports do not tell how much work it has";
  if (course.judged == 0) return "not known: its forecasts are too young to be judged";
  const std::string how =
      fmt::format("the last {} forecasts of its remaining time had quality {:.2f}", course.judged,
                  course.quality);
  if (course.predictable) return "yes: " + how;
  return course.due ? "from the next full round on: " + how : "no: " + how;
}

/// What the job says of itself, and how far it says it is.
void add_training(std::string& text, const Job& job, const Snapshot& snapshot, Seconds now) {
  if (job.hints) {
    if (!job.hints->job_type.empty()) add_line(text, "Job type", job.hints->job_type);
    if (!job.hints->sizes.empty()) add_line(text, "Can run at", sizes_text(job.hints->sizes));
  }
  const Progress* progress = progress_of(snapshot.memory, job.key);
  if (progress == nullptr) return;
  std::string told = fmt::format("{} samples", progress->samples);
  if (job.hints && job.hints->work && job.hints->work->unit == WorkUnit::kSamples) {
    told += fmt::format(" of {}", job.hints->work->count);
  }
  add_line(
      text, "Last report",
      fmt::format("{}, {} samples/s, batch {}, {} ago", told, rate_text(progress->rate),
                  progress->batch, format_duration(std::max<Seconds>(0, now - progress->time))));
  const Course* course = course_of(snapshot.memory, job.key);
  if (course == nullptr) return;
  if (job.state == JobState::kRunning && course->left >= 0) {
    add_line(
        text, "Time to its end",
        fmt::format("{} from then on, between {} and {} nine times of ten",
                    format_duration(whole(course->left)), format_duration(whole(course->left_low)),
                    format_duration(whole(course->left_high))));
  }
  add_line(text, "Predictable", class_text(*course));
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

/// What was decided when it started, and the numbers that decided.
void add_decision(std::string& text, const StartRecord& record) {
  const Explanation& told = record.told;
  add_line(text, "Decided",
           fmt::format("at {}, in round {}{}", format_time(record.time), record.round,
                       record.kind == "start" ? "" : "; it was stock Slurm that started it"));
  if (!told.reason.empty()) add_line(text, "Reason then", told.reason);
  bool first = true;
  for (const auto& [name, value] : told.facts) {
    add_line(text, first ? "Facts then" : "", name + " = " + value);
    first = false;
  }
}

Json facts_json(const Explanation& told) {
  Json facts = Json::object();
  for (const auto& [name, value] : told.facts) facts[name] = value;
  return facts;
}

Json decision_json(const StartRecord& record) {
  const Explanation& told = record.told;
  Json json{{"kind", record.kind},     {"time", record.time},
            {"round", record.round},   {"verdict", to_string(told.verdict)},
            {"order", told.order + 1}, {"reason", told.reason}};
  if (!told.gpu_type.empty()) json["gpu_type"] = told.gpu_type;
  if (!told.nodes.empty()) json["planned_nodes"] = told.nodes;
  json["facts"] = facts_json(told);
  return json;
}

void add_training(Json& json, const Job& job, const Snapshot& snapshot) {
  if (job.hints) {
    if (!job.hints->job_type.empty()) json["job_type"] = job.hints->job_type;
    if (job.hints->work && job.hints->work->unit == WorkUnit::kSamples) {
      json["work"] = job.hints->work->count;
    }
  }
  const Progress* progress = progress_of(snapshot.memory, job.key);
  if (progress == nullptr) return;
  json["rate"] = progress->rate;
  json["samples"] = progress->samples;
  json["batch"] = progress->batch;
  json["reported"] = progress->time;
  const Course* course = course_of(snapshot.memory, job.key);
  if (course == nullptr) return;
  if (job.state == JobState::kRunning && course->left >= 0) {
    json["remaining"] = whole(course->left);
    json["remaining_low"] = whole(course->left_low);
    json["remaining_high"] = whole(course->left_high);
  }
  json["class"] = course->predictable ? "P" : "U";
  json["forecasts_judged"] = course->judged;
  json["forecast_quality"] = course->quality;
}

using Row = std::array<std::string, 6>;
constexpr std::size_t kOrder = 0;
constexpr std::size_t kPartition = 2;
constexpr std::size_t kUser = 3;
constexpr std::size_t kVerdict = 4;

const Row& titles() {
  static const Row row{"ORDER", "JOBID", "PARTITION", "USER", "VERDICT", "START"};
  return row;
}

Row row_of(const QueueEntry& entry, Seconds now) {
  const Explanation* e = entry.explanation;
  const Job* job = entry.job;
  return {e != nullptr ? std::to_string(e->order + 1) : "-",
          job != nullptr ? job->label : e->label,
          job != nullptr ? job->partition : e->partition,
          job != nullptr ? job->user : "",
          e != nullptr ? to_string(e->verdict) : "-",
          e != nullptr ? short_start(*e, now) : "N/A"};
}

}  // namespace

std::vector<QueueEntry> queue_of(const Snapshot& snapshot, const Plan& plan) {
  using Key = std::pair<JobKey, std::string>;
  std::map<Key, const Job*> jobs;
  for (const Job& job : snapshot.jobs) jobs.try_emplace({job.key, job.partition}, &job);
  std::set<Key> explained;
  std::vector<QueueEntry> entries;
  for (const Explanation& e : plan.explanations) {
    const auto it = jobs.find({e.job, e.partition});
    entries.push_back({it == jobs.end() ? nullptr : it->second, &e});
    explained.insert({e.job, e.partition});
  }
  std::stable_sort(entries.begin(), entries.end(), [](const QueueEntry& a, const QueueEntry& b) {
    return a.explanation->order < b.explanation->order;
  });
  for (const JobState state : {JobState::kPending, JobState::kRunning}) {
    for (const Job& job : snapshot.jobs) {
      if (job.state == state && !explained.contains({job.key, job.partition})) {
        entries.push_back({&job, nullptr});
      }
    }
  }
  return entries;
}

std::string why_unmanaged(const Job& job, const Snapshot& snapshot) {
  if (job.managed) return "";
  if (job.het) return "it is part of a heterogeneous job, which only stock backfill starts";
  for (const Partition& partition : snapshot.partitions) {
    if (partition.name == job.partition && !partition.managed) {
      return fmt::format("partition {} is not managed (ManagedPartitions= in rubato.conf)",
                         job.partition);
    }
  }
  if (!job.request.wants_gpus()) return "it asks for no GPUs";
  return "Rubato passes it through (shards, MPS, a slice of a GPU, several GPU types at once, GPUs "
         "per socket, a burst buffer, a gang-scheduled partition, or a federation)";
}

std::string meaning(Verdict verdict) {
  switch (verdict) {
    case Verdict::kStart:
      return "Rubato starts it now";
    case Verdict::kAttempt:
      return "Slurm is asked to start it now";
    case Verdict::kReserve:
      return "it waits for the place reserved for it";
    case Verdict::kWait:
      return "it waits, and nothing is reserved for it yet";
    case Verdict::kBlocked:
      return "Slurm does not let it start";
    case Verdict::kStock:
      return "it is left to stock Slurm";
  }
  return "";
}

std::string entry_text(const QueueEntry& entry, const Snapshot& snapshot,
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
    add_line(text, "State",
             fmt::format("pending since {} ({})", format_time(job->eligible),
                         format_duration(std::max<Seconds>(0, now - job->eligible))));
  }
  add_training(text, *job, snapshot, now);
  add_line(text, "Scheduled by", scheduled_by(*job, snapshot, all_stock));
  // Not refused at submit: an admin, or another release, wrote the comment.
  if (!job->hint_error.empty()) {
    std::string words = job->hint_error;
    for (std::size_t at = 0; (at = words.find('\n', at)) != std::string::npos;) {
      words.replace(at, 1, "; ");
    }
    add_line(text, "Hints", "not used, since the comment is wrong: " + words);
  }
  if (job->state == JobState::kPending) add_pending(text, entry, now, color);
  if (job->state == JobState::kRunning && entry.started != nullptr)
    add_decision(text, *entry.started);
  return text;
}

std::string ended_text(const StartRecord& record, bool color) {
  std::string text = paint(fmt::format("Job {}, partition {}", record.label, record.told.partition),
                           Color::kBold, color) +
                     "\n";
  add_line(text, "State",
           fmt::format("ended by {}; it had run since {}", format_time(record.end),
                       format_time(record.start)));
  add_decision(text, record);
  return text;
}

Json ended_json(const StartRecord& record) {
  return {{"job_id", record.job.id},
          {"label", record.label},
          {"submit", record.job.submit},
          {"partition", record.told.partition},
          {"state", "ended"},
          {"start", record.start},
          {"end", record.end},
          {"decision", decision_json(record)}};
}

Json entry_json(const QueueEntry& entry, const Snapshot& snapshot, const std::string& all_stock) {
  Json json;
  const Job* job = entry.job;
  const Explanation* e = entry.explanation;
  const JobKey key = job != nullptr ? job->key : e->job;
  json["job_id"] = key.id;
  if (job != nullptr && job->array_id != 0) json["array_id"] = job->array_id;
  json["label"] = job != nullptr ? job->label : e->label;
  json["submit"] = key.submit;
  json["partition"] = job != nullptr ? job->partition : e->partition;
  if (job != nullptr) {
    json["name"] = job->name;
    json["user"] = job->user;
    json["account"] = job->account;
    json["qos"] = job->qos;
    json["state"] = to_string(job->state);
    json["managed"] = job->managed;
    const std::string why = why_unmanaged(*job, snapshot);
    json["scheduled_by"] = why.empty() && all_stock.empty() ? "rubato" : "slurm";
    if (!why.empty()) json["unmanaged_because"] = why;
    if (job->time_limit < kForever) json["time_limit"] = job->time_limit;
    if (job->state == JobState::kPending) json["eligible"] = job->eligible;
    if (!job->hint_error.empty()) json["hint_error"] = job->hint_error;
  }
  if (job != nullptr) add_training(json, *job, snapshot);
  if (job != nullptr && job->state == JobState::kRunning) {
    json["start"] = job->start;
    if (job->end_limit < kForever) json["end_limit"] = job->end_limit;
    json["nodes"] = Json::array();
    for (const NodeShare& share : job->allocation) {
      Json gpus = Json::object();
      for (const GpuCount& group : share.gpus) gpus[group.type] = group.count;
      json["nodes"].push_back({{"name", node_name(snapshot, share.node)},
                               {"cores", share.cores},
                               {"memory_mib", share.memory},
                               {"gpus", gpus}});
    }
  }
  if (e != nullptr) {
    json["verdict"] = to_string(e->verdict);
    json["order"] = e->order + 1;
    json["reason"] = e->reason;
    if (!e->gpu_type.empty()) json["gpu_type"] = e->gpu_type;
    if (!e->nodes.empty()) json["planned_nodes"] = e->nodes;
    if (e->start_earliest > 0) json["expected_start"]["earliest"] = e->start_earliest;
    if (e->start_latest > 0 && e->start_latest < kForever) {
      json["expected_start"]["latest"] = e->start_latest;
    }
    json["facts"] = facts_json(*e);
  }
  if (entry.started != nullptr) json["decision"] = decision_json(*entry.started);
  return json;
}

std::string queue_table(const std::vector<QueueEntry>& entries, Seconds now, std::size_t width,
                        bool color) {
  std::vector<Row> rows{titles()};
  for (const QueueEntry& entry : entries) rows.push_back(row_of(entry, now));
  // A column of width 0 is left out.
  std::array<std::size_t, 6> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  const auto used = [&] {
    std::size_t sum = 0;
    for (const std::size_t w : widths) sum += w > 0 ? w + 2 : 0;
    return sum;
  };
  for (const std::size_t column : {kPartition, kUser}) {
    if (width > 0 && used() + kGoodReason > width) widths[column] = 0;
  }
  const std::size_t room =
      width == 0 ? 0 : std::max(width > used() ? width - used() : 0, kLeastReason);

  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Explanation* e = r == 0 ? nullptr : entries[r - 1].explanation;
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] == 0) continue;
      const std::string pad(widths[i] - columns(rows[r][i]), ' ');
      const Color hue = i == kVerdict && e != nullptr ? color_of(e->verdict) : Color::kPlain;
      const std::string cell = paint(rows[r][i], hue, color);
      line += (i == kOrder ? pad + cell : cell + pad) + "  ";  // numbers stand to the right
    }
    const std::string reason = r == 0         ? "REASON"
                               : e != nullptr ? e->reason
                                              : "it came after the last round";
    line += room > 0 ? cut(reason, room) : reason;
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace rubato::tools
