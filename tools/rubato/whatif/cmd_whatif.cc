// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato whatif`: when a job would start and end if it were submitted now, beside alternatives.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "lib/json/models_fit.h"
#include "lib/json/record_writer.h"
#include "lib/replay/whatif.h"
#include "lib/runtime/user_names.h"
#include "tools/rubato/whatif/mode_change.h"
#include "tools/rubato/whatif/whatif_job.h"
#include "tools/rubato/whatif/whatif_options.h"
#include "tools/rubato/whatif/whatif_records.h"
#include "tools/shared/command.h"
#include "tools/shared/command_line.h"
#include "tools/shared/output.h"
#include "tools/shared/pause_view.h"
#include "tools/shared/process.h"
#include "tools/shared/published.h"
#include "tools/shared/source.h"
#include "tools/shared/table.h"
#include "tools/shared/write_file.h"

namespace rubato::tools {
namespace {

constexpr int kSacctmgrTimeout = 5000;

struct Options {
  SubmitOptions submit;
  std::string script;
  std::string mode;  ///< "elastic", or "" for a job
  int priority = 0;
};

int failure(const Globals& globals, Exit exit, const std::string& text) {
  return report_failure(globals, kWhatIfSchema, exit, text);
}

/// The user's default account from sacctmgr, else the one account of all jobs of the user in the
/// queue, else "".
Submitter submitter_of(const Snapshot& snapshot) {
  Submitter who;
  who.uid = getuid();
  who.user = passwd_name(who.uid);
  if (const std::string sacctmgr = find_program("sacctmgr"); !sacctmgr.empty()) {
    const auto answer =
        run_program({sacctmgr, "-nP", "show", "user", "name=" + who.user, "format=DefaultAccount"},
                    kSacctmgrTimeout);
    if (answer) who.account = answer->substr(0, answer->find('\n'));
  }
  if (!who.account.empty() || who.user.empty()) return who;
  std::set<std::string> accounts;
  for (const Job& job : snapshot.jobs)
    if (job.user == who.user && !job.account.empty()) accounts.insert(job.account);
  if (accounts.size() == 1) who.account = *accounts.begin();
  return who;
}

std::string delays_of(const WhatIfOutcome& out) {
  const auto jobs = [](int count) { return fmt::format("{} job{}", count, count == 1 ? "" : "s"); };
  if (out.delayed + out.displaced == 0) return "none";
  const std::string later = jobs(out.delayed) + " by " + format_duration(out.delay);
  if (out.displaced == 0) return later;
  const std::string gone = jobs(out.displaced) + " without a start";
  return out.delayed == 0 ? gone : later + ", " + gone;
}

void print_table(const WhatIfAnswer& answer, Seconds now) {
  Table table({{"ALTERNATIVE"},
               {"START"},
               {"AT THE LATEST"},
               {"END"},
               {"GPUS"},
               {"GPU-HOURS", true},
               {"DELAYS"}});
  const auto when = [&](Seconds time) {
    return time == 0 || time >= kForever ? "-" : time <= now ? "now" : format_time(time);
  };
  for (const WhatIfRow& row : answer.rows) {
    const WhatIfOutcome& out = row.outcome;
    const std::string end = out.end == 0 ? "-" : (out.told ? "" : "<= ") + format_time(out.end);
    const std::string gpus =
        out.start == 0
            ? "-"
            : fmt::format("{} {}", out.gpus, out.gpu_type.empty() ? "GPUs" : out.gpu_type);
    table.add({row.name, when(out.start), when(out.latest), end, gpus,
               out.end == 0 ? "-" : fmt::format("{:.1f}", out.gpu_hours), delays_of(out)});
  }
  fmt::print("{}", table.text());
}

void print_answer(const WhatIfAnswer& answer, const Job& job, Seconds now,
                  const std::vector<std::string>& notes) {
  print_table(answer, now);
  fmt::print("\nSimulated {} waiting job{} and this one with priority {}.\n", answer.waiting,
             answer.waiting == 1 ? "" : "s", job.priority);
  if (answer.blocked > 0)
    fmt::print("Left out: {} job{} that Slurm blocks.\n", answer.blocked,
               answer.blocked == 1 ? "" : "s");
  const bool limits = std::ranges::any_of(
      answer.rows, [](const WhatIfRow& row) { return row.outcome.end > 0 && !row.outcome.told; });
  if (limits)
    fmt::print("\"<=\": the time limit; the work or the throughput of the job is unknown.\n");
  fmt::print("Jobs submitted later can change these times.\n");
  for (const std::string& one : notes) fmt::print("{}.\n", one);
}

Result<SubmitOptions> with_script(const Options& options, std::vector<std::string>& notes) {
  const SubmitOptions given = merged(options.submit, options_of_environment());
  if (options.script.empty()) return given;
  const auto text = read_file(options.script == "-" ? "/dev/stdin" : options.script);
  if (!text) return tl::unexpected(text.error());
  auto script = read_script(*text, options.script);
  if (!script) return tl::unexpected(script.error());
  for (const std::string& name : script->ignored)
    notes.push_back(fmt::format("{}: {} is not considered", options.script, name));
  return merged(given, std::move(script->options));
}

void note(const Site& site, const Snapshot& snapshot, const Job& job,
          std::vector<std::string>& notes) {
  if (site.config.mode == Mode::kObserve)
    notes.emplace_back("Rubato observes: stock Slurm starts the jobs, and may decide otherwise");
  if (snapshot.private_data.jobs && !sees_all(site, "snapshot.json"))
    notes.emplace_back("PrivateData hides jobs of others: what they use counts as used for ever");
  if (job.hints && !job.hints->job_type.empty() && job.account.empty())
    notes.emplace_back(
        "Your account is unknown, so the profile of the job type is too; give --account");
}

/// Why the published queue is out of date; nullopt if it is not.
std::optional<std::string> out_of_date(const Site& site, std::vector<std::string>& notes) {
  const auto stats = read_stats(site);
  if (!stats) {
    notes.emplace_back("unknown whether Rubato runs: " + stats.error().text);
    return std::nullopt;
  }
  if (stats->pause) notes.push_back("Rubato is " + pause_words(*stats->pause));
  return loop_stopped(*stats, site.config, now());
}

WhatIfAnswer answer_of(const Job& job, const Snapshot& snapshot, const Models& models,
                       const Config& config) {
  const WhatIf queue(snapshot, models, config);
  WhatIfAnswer answer{job.partition, job.account, job.hints ? job.hints->job_type : "",
                      queue.waiting(), queue.blocked()};
  for (const Alternative& one : alternatives_of(job, snapshot))
    answer.rows.push_back({one.name, queue.of(one.job)});
  return answer;
}

std::string wrong_mode(const std::string& word) {
  return word == "elastic" ? ""
                           : fmt::format("\"{}\" is no mode to ask about; write elastic", word);
}

int run_mode(const Globals& globals, const Options& options) {
  if (!options.script.empty() || options.priority > 0 || options.submit.given())
    return report_failure(globals, kWhatIfModeSchema, kUsage,
                          "whatif: --mode asks about the jobs that are there; leave out the script "
                          "and the options of sbatch");
  const auto fails = [&](Exit exit, const std::string& text) {
    return report_failure(globals, kWhatIfModeSchema, exit, text);
  };
  std::vector<std::string> notes;
  const auto site = find_source(globals.publish_dir);
  if (!site) return fails(kFailed, site.error().text);
  const auto published = read_snapshot(*site);
  if (!published) return fails(kUnreachable, published.error().text);
  if (const auto why = out_of_date(*site, notes)) return fails(kUnreachable, *why);
  const Snapshot& snapshot = published->snapshot;
  if (snapshot.private_data.jobs && !sees_all(*site, "snapshot.json"))
    notes.emplace_back("PrivateData hides jobs of others, so that the round does not see them");
  const Models models = models_with(read_models_fit(*site).value_or(ModelsFit{}), site->config);
  const ModeAnswer answer = elastic_answer(snapshot, models, site->config);
  if (globals.json) {
    Json json = document(kWhatIfModeSchema, snapshot.slurm_version, notes);
    json.update(json::json_of(answer));
    print_json(json);
    return kOk;
  }
  print_answer(answer, site->config);
  for (const std::string& one : notes) fmt::print("{}.\n", one);
  return kOk;
}

int run(const Globals& globals, const Options& options) {
  if (!options.mode.empty()) return run_mode(globals, options);
  std::vector<std::string> notes;
  const auto submit = with_script(options, notes);
  if (!submit) return failure(globals, kFailed, submit.error().text);
  const auto site = find_source(globals.publish_dir);
  if (!site) return failure(globals, kFailed, site.error().text);
  const auto published = read_snapshot(*site);
  if (!published) return failure(globals, kUnreachable, published.error().text);
  if (const auto why = out_of_date(*site, notes)) return failure(globals, kUnreachable, *why);
  const Snapshot& snapshot = published->snapshot;
  const auto job = job_of(*submit, submitter_of(snapshot), *site, snapshot, options.priority);
  if (!job) return failure(globals, kFailed, job.error().text);
  note(*site, snapshot, *job, notes);
  const Models models = models_with(read_models_fit(*site).value_or(ModelsFit{}), site->config);
  const WhatIfAnswer answer = answer_of(*job, snapshot, models, site->config);
  if (!globals.json) return print_answer(answer, *job, snapshot.taken, notes), kOk;
  Json json = document(kWhatIfSchema, snapshot.slurm_version, notes);
  json.update(json::json_of(answer));
  print_json(json);
  return kOk;
}

std::function<int()> setup(CommandLine& line, const Globals& globals) {
  auto options = std::make_shared<Options>();
  line.argument("SCRIPT", options->script, "A job script, for its #SBATCH lines; - reads stdin");
  line.number("--priority", options->priority, 1, std::numeric_limits<int>::max(), "N",
              "Slurm priority of the job (default: the lowest of its partition)");
  line.text("--mode", options->mode, "MODE",
            "Instead of a job: what mode elastic would do in the next round", wrong_mode);
  add_submit_options(line, options->submit);
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command whatif_command() {
  return {"whatif", "Tell when a job would start and end, before its submission", "[SCRIPT]",
          &setup};
}

}  // namespace rubato::tools
