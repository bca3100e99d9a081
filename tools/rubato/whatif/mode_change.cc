// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/whatif/mode_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lib/policy/algorithms/job_forecast.h"
#include "lib/policy/round.h"
#include "tools/shared/output.h"
#include "tools/shared/table.h"

namespace rubato::tools {
namespace {

const char* word_of(ChangeAction action) {
  switch (action) {
    case ChangeAction::kShrink:
      return "shrink";
    case ChangeAction::kGrow:
      return "grow";
    case ChangeAction::kRestart:
      return "restart";
    case ChangeAction::kStop:
      return "stop";
    case ChangeAction::kNotify:
      return "notify";
  }
  return "";
}

bool interrupts(const ModeChange& change) {
  return change.action == "stop" || change.action == "restart";
}

void note_held(const Job& job, ModeChange& change) {
  std::set<std::string> types;
  for (const NodeShare& share : job.allocation) {
    for (const GpuCount& gpus : share.gpus) {
      change.gpus_now += gpus.count;
      types.insert(gpus.type);
    }
  }
  if (types.size() == 1) change.gpu_type_now = *types.begin();
}

ModeChange row_of(const Change& change, const Job& job, Seconds now) {
  const auto at = [now](double seconds) { return now + static_cast<Seconds>(seconds); };
  ModeChange row{.id = job.key.id, .label = job.label, .user = job.user};
  row.action = word_of(change.action);
  note_held(job, row);
  row.gpus = change.gpus;
  row.gpu_type = change.gpu_type;
  row.end_now = at(change.seconds_left);
  if (change.action != ChangeAction::kStop) row.end = at(change.seconds_then);
  row.cost = change.cost;
  return row;
}

int starts_of(const Plan& plan) {
  std::set<JobKey> jobs;
  for (const Start& start : plan.starts) jobs.insert(start.job);
  return static_cast<int>(jobs.size());
}

std::string gpus_text(int gpus, const std::string& type) {
  return gpus == 0 ? "waits" : fmt::format("{} {}", gpus, type.empty() ? "GPUs" : type);
}

std::string interrupted_users(const ModeAnswer& answer) {
  std::map<std::string, int> users;
  for (const ModeChange& change : answer.changes) {
    if (interrupts(change)) ++users[change.user.empty() ? "hidden users" : change.user];
  }
  std::string text;
  for (const auto& [user, jobs] : users)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", user, jobs);
  return text;
}

}  // namespace

ModeAnswer elastic_answer(const Snapshot& snapshot, const Models& models, const Config& config) {
  Config other = config;
  if (other.mode == Mode::kObserve) other.mode = Mode::kPlace;
  ModeAnswer answer;
  answer.starts_now = starts_of(round(snapshot, models, other, snapshot.taken));
  other.mode = Mode::kElastic;
  const Plan plan = round(snapshot, models, other, snapshot.taken);
  answer.starts = starts_of(plan);
  std::map<JobKey, const Job*> running;
  for (const Job& job : snapshot.jobs) {
    const bool counts = job.managed && job.request.wants_gpus();
    if (job.state != JobState::kRunning || !counts) continue;
    running.emplace(job.key, &job);
    if (hints_change(job)) ++answer.consenting;
  }
  answer.running = static_cast<int>(running.size());
  for (const Change& change : plan.changes) {
    const auto job = running.find(change.job);
    if (job != running.end())
      answer.changes.push_back(row_of(change, *job->second, snapshot.taken));
  }
  std::ranges::stable_sort(answer.changes, {}, &ModeChange::id);
  return answer;
}

void print_answer(const ModeAnswer& answer, const Config& config) {
  if (!answer.changes.empty()) {
    Table table({{"JOB"},
                 {"USER"},
                 {"CHANGE"},
                 {"HOLDS"},
                 {"WOULD HOLD"},
                 {"END"},
                 {"WOULD END"},
                 {"COST", true}});
    for (const ModeChange& change : answer.changes) {
      table.add({change.label, change.user.empty() ? "-" : change.user, change.action,
                 gpus_text(change.gpus_now, change.gpu_type_now),
                 gpus_text(change.gpus, change.gpu_type), format_time(change.end_now),
                 change.end == 0 ? "-" : format_time(change.end),
                 format_duration(static_cast<Seconds>(change.cost))});
    }
    fmt::print("{}\n", table.text());
  }
  const char* const beside = config.mode == Mode::kElastic ? nullptr : "mode place";
  fmt::print(
      "Running jobs: {}. Their hints allow changes of {}; in the next round mode elastic "
      "would change {}.\n",
      answer.running, answer.consenting, answer.changes.size());
  if (const std::string users = interrupted_users(answer); !users.empty())
    fmt::print("Users with interrupted jobs (stop, restart): {}.\n", users);
  fmt::print("Starts of waiting jobs in that round: {}", answer.starts);
  if (beside != nullptr) fmt::print("; in {}: {}", beside, answer.starts_now);
  fmt::print(".\nEach round decides anew. Ends are expected by work and measured speed.\n");
}

}  // namespace rubato::tools
