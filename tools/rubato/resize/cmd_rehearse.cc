// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato rehearse`: a running job is told to save its state and restarted at the same size, so
// that its user sees whether its checkpoint works.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "lib/hints/message.h"
#include "lib/hints/values.h"
#include "lib/json/record_writer.h"
#include "lib/policy/algorithms/growth_cap.h"
#include "lib/policy/asked_resize.h"
#include "tools/rubato/resize/asking.h"
#include "tools/rubato/resize/rehearse_records.h"
#include "tools/shared/command_line.h"
#include "tools/shared/format.h"
#include "tools/shared/output.h"

namespace rubato::tools {
namespace {

constexpr auto kLook = std::chrono::milliseconds(250);
constexpr int kReportWait = 180;  // seconds: a client reports each minute, after its start
constexpr int kMaxReportWait = 86400;

struct Options {
  std::string job;
  int report_wait = kReportWait;
  bool dry_run = false;
  bool no_wait = false;
};

int failure(const Globals& globals, Exit code, const std::string& text) {
  return report_failure(globals, kRehearseSchema, code, text);
}

/// What slurmctld will test again.
Result<RehearseAnswer> planned(const FoundJob& found) {
  const Job& job = found.job();
  const Snapshot& snapshot = found.snapshot();
  if (const std::string why = why_never_restarted(job); !why.empty()) return fail(why);
  const Models models =
      models_with(read_models_fit(found.site).value_or(ModelsFit{}), found.site.config);
  const int gpus = held_gpus(job);
  const auto start = start_after_restart(snapshot, models, found.site.config, job.key,
                                         {.gpus = gpus, .gpu_type = {}}, snapshot.taken);
  if (!start) return tl::unexpected(start.error());
  RehearseAnswer answer{.job = job.key.id,
                        .step = "possible",
                        .gpus = gpus,
                        .gpu_type = start->gpu_type,
                        .nodes = names_of(start->shares, snapshot),
                        .signal = to_text(job.hints->checkpoint),
                        .lead = job.hints->checkpoint.lead};
  if (const Progress* const last = progress_of(snapshot.memory, job.key))
    answer.samples_before = last->samples;
  return answer;
}

std::string receiver(const RehearseAnswer& answer) {
  return answer.signal.find("B:") != std::string::npos ? "its batch script" : "its steps";
}

std::string plan_text(const std::string& job, const RehearseAnswer& answer) {
  return fmt::format(
      "Job {} has {}. A rehearsal restarts it with as many on {}: {} to {}, {} s to save, requeue.",
      job, gpus_text(answer.gpus, ""), fmt::join(answer.nodes, ","), answer.signal,
      receiver(answer), answer.lead);
}

int print(const Globals& globals, const Snapshot& snapshot, const RehearseAnswer& answer,
          const std::string& text, Exit code) {
  if (globals.json) {
    Json json = document(kRehearseSchema, snapshot.slurm_version);
    json.update(json::json_of(answer));
    print_json(json);
  } else {
    fmt::print("{}\n", text);
  }
  return code;
}

void say(const Globals& globals, const std::string& text) {
  if (globals.json) return;
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

std::string answer_text(const RehearseAnswer& answer) {
  if (answer.answered) return fmt::format("It answered after {} s.", *answer.answered);
  return fmt::format("It did not answer; its lead time of {} s passed.", answer.lead);
}

/// The first report of the job since its start.
std::optional<Progress> first_report(const Site& site, const AskedResize& change, int seconds) {
  const Seconds end = change.since + seconds;
  for (;;) {
    if (const auto published = read_plan(site))
      for (const Progress& one : published->plan.memory.progress)
        if (one.job.id == change.job.id && one.restarts > change.runs) return one;
    if (now() > end) return std::nullopt;
    std::this_thread::sleep_for(kLook);
  }
}

std::string report_text(const RehearseAnswer& answer, int waited) {
  if (!answer.samples_after) return fmt::format("No report of it within {} s.", waited);
  std::string text =
      fmt::format("First report after {} s: {} samples", answer.reported, *answer.samples_after);
  if (!answer.samples_before) return text + ".";
  text += fmt::format(", {} before", *answer.samples_before);
  if (*answer.samples_after < *answer.samples_before)
    return text + fmt::format("; {} are lost.", *answer.samples_before - *answer.samples_after);
  return text + "; it goes on from there.";
}

bool goes_on(const RehearseAnswer& answer) {
  return answer.samples_before && answer.samples_after && *answer.samples_before > 0 &&
         *answer.samples_after >= *answer.samples_before;
}

bool lost_work(const RehearseAnswer& answer) {
  return answer.samples_before && answer.samples_after &&
         *answer.samples_after < *answer.samples_before;
}

std::string verdict(const std::string& job, const RehearseAnswer& answer) {
  if (answer.proven) return fmt::format("Job {} can be restarted.", job);
  if (lost_work(answer))
    return fmt::format("Job {} lost work: it does not save at {}, or does not read what it saved.",
                       job, answer.signal);
  return fmt::format(
      "Job {} showed nothing: neither an answer nor a report that goes on from the "
      "one before. See what it printed.",
      job);
}

int rehearse(const Globals& globals, const FoundJob& found, const Options& options,
             RehearseAnswer answer) {
  const Seconds asked = now();
  ResizeRequest request{.gpus = answer.gpus, .live = false, .rehearsal = true};
  if (const auto sent = send_request("rehearsal", options.job, request); !sent)
    return failure(globals, kFailed, sent.error().text);
  answer.step = "asked";
  if (options.no_wait)
    return print(globals, found.snapshot(), answer, fmt::format("Job {}: asked.", options.job),
                 kOk);
  bool told = false;
  const auto tell_signal = [&] {
    if (std::exchange(told, true)) return;
    say(globals, fmt::format("{} sent to {}; it has {} s to save.", answer.signal, receiver(answer),
                             answer.lead));
  };
  // A job that answers at once is requeued before a published round shows that it saves.
  const auto tell = [&](const AskedResize&) { tell_signal(); };
  const auto ended = follow_change(found.site, answer.job, answer.gpus, asked, tell);
  if (!ended) return failure(globals, kUnreachable, ended.error().text);
  if (ended->answered > 0) answer.answered = ended->answered - ended->asked;
  if (ended->step == ResizeStep::kFailed)
    return failure(globals, kFailed, fmt::format("job {}: {}", options.job, ended->words));
  tell_signal();
  answer.step = "done";
  answer.gpu_type = ended->gpu_type;
  answer.stopped = ended->since - ended->requeued;
  say(globals, answer_text(answer));
  say(globals, fmt::format("It runs again with {} after a stop of {} s.",
                           gpus_text(ended->gpus, ended->gpu_type), answer.stopped));
  if (ended->reported > 0) answer.samples_before = ended->samples;
  if (answer.samples_before) {
    if (const auto report = first_report(found.site, *ended, options.report_wait)) {
      answer.samples_after = report->samples;
      // The round that sees the job run may come after its first report.
      answer.reported = std::max<Seconds>(0, report->time - ended->since);
    }
    say(globals, report_text(answer, options.report_wait));
  }
  answer.proven = goes_on(answer) || (answer.answered && !lost_work(answer));
  return print(globals, found.snapshot(), answer, verdict(options.job, answer),
               answer.proven ? kOk : kFailed);
}

int run(const Globals& globals, const Options& options) {
  const auto selector = parse_selector(options.job);
  if (!selector) return failure(globals, kUsage, selector.error().text);
  const auto found = find_running(*selector, globals.publish_dir);
  if (!found) return failure(globals, found.error().code, found.error().text);
  const auto answer = planned(*found);
  if (!answer)
    return failure(globals, kFailed, fmt::format("job {}: {}", options.job, answer.error().text));
  if (!options.dry_run) return rehearse(globals, *found, options, *answer);
  return print(globals, found->snapshot(), *answer, plan_text(options.job, *answer), kOk);
}

std::function<int()> setup(CommandLine& line, const Globals& globals) {
  auto options = std::make_shared<Options>();
  line.argument("JOBID", options->job, "A running job or array task");
  line.number("--report-wait", options->report_wait, 0, kMaxReportWait, "SECONDS",
              "How long to wait for its first report, if it reported before (default: 180)");
  line.flag("--dry-run", options->dry_run, "Tell what would happen; change nothing");
  line.flag("--no-wait", options->no_wait, "Do not wait until the job runs again");
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command rehearse_command() {
  return {"rehearse", "Try the checkpoint of a running job: signal, restart at the same size",
          "JOBID", &setup};
}

}  // namespace rubato::tools
