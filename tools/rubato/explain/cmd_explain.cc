// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato explain`: explains the decision for a job, or for all pending jobs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "lib/json/record_writer.h"
#include "tools/rubato/explain/explain_array.h"
#include "tools/rubato/explain/explain_job.h"
#include "tools/rubato/explain/explain_records.h"
#include "tools/rubato/explain/explain_stored.h"
#include "tools/rubato/explain/explain_view.h"
#include "tools/shared/command.h"
#include "tools/shared/command_line.h"
#include "tools/shared/job_match.h"
#include "tools/shared/output.h"
#include "tools/shared/pause_view.h"
#include "tools/shared/published.h"
#include "tools/shared/source.h"

namespace rubato::tools {
namespace {

struct Options {
  std::string job;
  std::string user;
  std::string partition;
};

/// The sources of an answer: the published files, and remarks on them.
struct View {
  PublishedPlan published;
  StartRecords decisions;
  std::string mode;
  std::string slurm_version;
  std::vector<std::string> warnings;
  std::string all_stock;  ///< why stock Slurm schedules managed jobs too; "" if it does not
  bool stale = false;
  std::optional<Pause> pause;  ///< in effect
};

Result<View> load_view(const Site& site) {
  View view;
  if (site.config_error) {
    view.warnings.push_back("rubato.conf could not be read, so defaults apply: " +
                            *site.config_error);
  }
  auto published = read_plan(site);
  if (!published) return tl::unexpected(published.error());
  view.published = std::move(*published);
  view.decisions = read_decisions(site);
  view.slurm_version = view.published.snapshot.slurm_version;
  if (!view.published.same_round) {
    view.warnings.push_back("plan.json and snapshot.json come from different rounds");
  }
  const auto stats = read_stats(site);
  if (!stats) {
    view.warnings.push_back(stats.error().text);
    return view;
  }
  view.mode = stats->mode;
  if (const auto stopped = loop_stopped(*stats, site.config, now())) {
    view.warnings.push_back(*stopped);
    view.stale = true;
    view.all_stock = "Rubato's loop is not running; this is its last round";
  } else if (stats->pause) {
    view.pause = stats->pause;
    view.all_stock =
        fmt::format("scheduling is {}; this is what Rubato would do", pause_words(*stats->pause));
  } else if (stats->mode == "observe") {
    view.all_stock = "the mode is observe; this is what Rubato would do";
  } else if (stats->gate_open && stats->gate_matters) {
    view.warnings.push_back("the gate is open: stock Slurm starts managed jobs too");
    view.all_stock = "the gate is open, so stock Slurm starts managed jobs too";
  }
  return view;
}

ExplainAnswer answer(const View& view) {
  return {.mode = view.mode,
          .round = view.published.plan.round,
          .made = view.published.plan.made,
          .old = view.stale,
          .pause = view.pause};
}

int print(Json head, const ExplainAnswer& answer) {
  head.update(json::json_of(answer));
  print_json(head);
  return kOk;
}

int print(const View& view, const ExplainAnswer& answer) {
  return print(document(kExplainSchema, view.slurm_version, view.warnings), answer);
}

/// The entries of the plan. If the loop has stopped they say since when they are old.
std::vector<PlanEntry> entries_of(const View& view) {
  std::vector<PlanEntry> entries = queue_of(view.published.snapshot, view.published.plan);
  if (view.stale) {
    for (PlanEntry& entry : entries) entry.old_since = view.published.plan.made;
  }
  return entries;
}

/// A running job has the decision under the same key; `at` is null if it is unknown.
const StartRecord* decision_of(const View& view, const Job& job) {
  for (const auto& record : view.decisions) {
    if (record->job == job.key && record->start == job.start) return record.get();
  }
  return nullptr;
}

/// Decisions about jobs that have ended since.
std::vector<const StartRecord*> ended(const View& view, const JobSelector& selector) {
  std::vector<const StartRecord*> found;
  for (const auto& record : view.decisions) {
    const bool meant = record->label == selector.text ||
                       (!selector.task && std::to_string(record->job.id) == selector.text);
    if (record->end != 0 && meant) found.push_back(record.get());
  }
  return found;
}

std::string not_found(const JobSelector& selector, const View& view) {
  std::string text = fmt::format("job {} is neither pending nor running in the snapshot of {}",
                                 selector.text, format_time(view.published.snapshot.taken));
  for (const Job& job : view.published.snapshot.jobs) {
    if (job.array_id == selector.id && selector.task) {
      text += fmt::format("; of array {} it has {}", selector.id, job.label);
      break;
    }
  }
  if (view.published.snapshot.private_data.jobs) {
    return text + ". PrivateData in slurm.conf hides jobs from the published files";
  }
  return text + fmt::format(
                    ". It ended, was submitted later, or is not eligible yet (held, dependency, "
                    "begin time); try: squeue -j {0}, scontrol show job {0}, sacct -j {0}",
                    selector.id);
}

int explain_ended(const Globals& globals, const View& view,
                  const std::vector<const StartRecord*>& records) {
  if (globals.json) {
    ExplainAnswer told = answer(view);
    for (const StartRecord* record : records)
      told.jobs.push_back(explained(*record, ask_for_end(record->label)));
    return print(view, told);
  }
  bool first = true;
  for (const StartRecord* record : records) {
    fmt::print("{}{}", std::exchange(first, false) ? "" : "\n",
               ended_text(*record, ask_for_end(record->label), use_color(globals)));
  }
  return kOk;
}

/// The counts, the running tasks, and the decision for those that wait.
void print_array(const Globals& globals, const View& view, const JobSelector& selector,
                 const std::vector<PlanEntry>& found, const TaskCounts& tasks) {
  const Snapshot& snapshot = view.published.snapshot;
  const bool color = use_color(globals);
  fmt::print("{}{}", array_text(selector, found, tasks, color),
             running_tasks_text(found, snapshot));
  for (const PlanEntry& entry : found) {
    if (entry.job->state == JobState::kRunning) continue;
    fmt::print("\n{}", entry_text(entry, snapshot, view.all_stock, now(), color));
  }
}

int explain_job(const Globals& globals, const View& view, const JobSelector& selector) {
  const Snapshot& snapshot = view.published.snapshot;
  std::vector<PlanEntry> found;
  for (const PlanEntry& entry : entries_of(view)) {
    const bool meant = entry.job != nullptr ? matches(selector, *entry.job)
                                            : entry.explanation->label == selector.text;
    if (!meant) continue;
    found.push_back(entry);
    if (entry.job != nullptr && entry.job->state == JobState::kRunning)
      found.back().started = decision_of(view, *entry.job);
  }
  if (found.empty()) {
    if (const auto past = ended(view, selector); !past.empty())
      return explain_ended(globals, view, past);
    const std::string text = not_found(selector, view);
    if (globals.json)
      print_json(document(kExplainSchema, view.slurm_version, view.warnings, {text}));
    print_error(text);
    return kNoMatch;
  }
  const bool array = is_array(selector, found);
  const TaskCounts tasks = array ? count_tasks(selector, found) : TaskCounts{};
  if (globals.json) {
    ExplainAnswer told = answer(view);
    if (array) told.array = ExplainedArray{selector.id, tasks};
    for (const PlanEntry& entry : found)
      told.jobs.push_back(explained(entry, snapshot, view.all_stock));
    return print(view, told);
  }
  if (array) {
    print_array(globals, view, selector, found, tasks);
    return kOk;
  }
  bool first = true;
  for (const PlanEntry& entry : found) {
    fmt::print("{}{}", std::exchange(first, false) ? "" : "\n",
               entry_text(entry, snapshot, view.all_stock, now(), use_color(globals)));
  }
  return kOk;
}

bool listed(const PlanEntry& entry, const Options& options) {
  const bool pending = entry.job == nullptr || entry.job->state == JobState::kPending;
  const std::string& partition =
      entry.job != nullptr ? entry.job->partition : entry.explanation->partition;
  return pending && (options.partition.empty() || options.partition == partition) &&
         (options.user.empty() || (entry.job != nullptr && entry.job->user == options.user));
}

int explain_queue(const Globals& globals, const View& view, const Options& options) {
  std::vector<PlanEntry> entries;
  for (const PlanEntry& entry : entries_of(view)) {
    if (listed(entry, options)) entries.push_back(entry);
  }
  if (globals.json) {
    ExplainAnswer told = answer(view);
    for (const PlanEntry& entry : entries)
      told.jobs.push_back(explained(entry, view.published.snapshot, view.all_stock));
    return print(view, told);
  }
  if (view.pause) {
    fmt::print("Scheduling is {}: stock Slurm schedules; this is what Rubato would do.\n",
               pause_words(*view.pause));
  } else if (view.mode == "observe") {
    fmt::print("Mode observe: stock Slurm schedules; this is what Rubato would do.\n");
  }
  if (view.stale) {
    const Seconds made = view.published.plan.made;
    fmt::print("Old plan, made {} ago at {}: Rubato's loop is not running.\n",
               format_duration(std::max<Seconds>(0, now() - made)), format_time(made));
  }
  const int width = terminal_width().value_or(0);
  fmt::print("{}",
             queue_table(entries, now(), static_cast<std::size_t>(width), use_color(globals)));
  if (entries.empty()) fmt::print("No pending jobs.\n");
  return kOk;
}

/// If the decisions are unreadable or do not contain the job, prints what Slurm shows this user.
/// nullopt if that is nothing.
std::optional<int> explain_from_squeue(const Globals& globals, const JobSelector& selector,
                                       const std::string& missing) {
  const auto jobs = ask_for_job(selector);
  if (!jobs || jobs->empty()) return std::nullopt;
  const std::string warning = "showing only data of squeue and of the job, no reasons: " + missing;
  print_warning(warning);
  if (globals.json) {
    ExplainAnswer told;
    for (const SqueueJob& job : *jobs) told.jobs.push_back(explained(job));
    return print(document(kExplainSchema, "", {warning}), told);
  }
  bool first = true;
  for (const SqueueJob& job : *jobs) {
    fmt::print("{}{}", first ? "" : "\n", squeue_job_text(job, use_color(globals)));
    first = false;
  }
  return kOk;
}

/// A run of which only the store still tells, unless Slurm has the job and it has not ended.
std::optional<int> explain_from_store(const Globals& globals, const Site& site, const View* view,
                                      const JobSelector& selector) {
  const auto record = stored_run(site, selector);
  if (!record) return std::nullopt;
  const auto jobs = ask_for_job(selector);
  if (jobs && std::ranges::any_of(*jobs, [](const SqueueJob& job) { return !end_of(job); }))
    return std::nullopt;
  const auto end = ask_for_end(record->label);
  if (globals.json) {
    ExplainAnswer told = view != nullptr ? answer(*view) : ExplainAnswer{};
    ExplainedJob job = explained(*record, end);
    job.source = "store";
    told.jobs.push_back(std::move(job));
    return print(document(kExplainSchema, view != nullptr ? view->slurm_version : ""), told);
  }
  fmt::print("{}", ended_text(*record, end, use_color(globals)));
  return kOk;
}

bool holds(const View& view, const JobSelector& selector) {
  if (!ended(view, selector).empty()) return true;
  for (const PlanEntry& entry : queue_of(view.published.snapshot, view.published.plan)) {
    if (entry.job != nullptr ? matches(selector, *entry.job)
                             : entry.explanation->label == selector.text) {
      return true;
    }
  }
  return false;
}

int run(const Globals& globals, const Options& options) {
  JobSelector selector;
  if (!options.job.empty()) {
    auto parsed = parse_selector(options.job);
    if (!parsed) return report_failure(globals, kExplainSchema, kUsage, parsed.error().text);
    selector = *parsed;
  }
  const auto site = find_source(globals.publish_dir);
  if (!site) return report_failure(globals, kExplainSchema, kFailed, site.error().text);
  const auto view = load_view(*site);
  if (!options.job.empty() && (!view || !holds(*view, selector))) {
    if (const auto exit = explain_from_store(globals, *site, view ? &*view : nullptr, selector))
      return *exit;
    const std::string missing = view ? not_found(selector, *view) : view.error().text;
    if (const auto exit = explain_from_squeue(globals, selector, missing)) return *exit;
  }
  if (!view) return report_failure(globals, kExplainSchema, kUnreachable, view.error().text);

  for (const std::string& warning : view->warnings) print_warning(warning);
  const int exit = options.job.empty() ? explain_queue(globals, *view, options)
                                       : explain_job(globals, *view, selector);
  return exit == kOk && view->stale ? static_cast<int>(kUnreachable) : exit;
}

std::function<int()> setup(CommandLine& line, const Globals& globals) {
  auto options = std::make_shared<Options>();
  line.argument(
      "JOBID", options->job,
      "Job, array task (12_3) or het job component (12+1); default: a table of all pending jobs");
  line.text("-u,--user", options->user, "USER", "Table: only jobs of this user");
  line.text("-p,--partition", options->partition, "NAME", "Table: only jobs of this partition");
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command explain_command() {
  return {"explain", "Why a job waits, when it will start, and where", "[JOBID]", &setup};
}

}  // namespace rubato::tools
