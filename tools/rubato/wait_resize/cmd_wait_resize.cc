// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato wait-resize`: in a job, waits for what Rubato tells it about a change of its size.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <thread>

#include "lib/hints/message.h"
#include "lib/json/notice.h"
#include "lib/json/record_writer.h"
#include "tools/rubato/wait_resize/wait_resize_records.h"
#include "tools/shared/command.h"
#include "tools/shared/command_line.h"
#include "tools/shared/format.h"
#include "tools/shared/job_match.h"
#include "tools/shared/job_message.h"
#include "tools/shared/output.h"
#include "tools/shared/source.h"
#include "tools/shared/squeue_query.h"

namespace rubato::tools {
namespace {

using std::chrono::duration;
using std::chrono::seconds;
using std::chrono::steady_clock;

// Exit codes beside those of every command: what the job is to do.
constexpr int kCheckpoint = 10;    // it will be restarted
constexpr int kLeaveNodes = 11;    // nodes go, and it runs on
constexpr int kKeepSize = 12;      // the change was given up
constexpr int kRunOtherwise = 13;  // it keeps its GPUs, and has another batch or plan
constexpr int kTimeout = 124;      // as timeout(1)

constexpr int kMaxTimeout = 31'536'000;
constexpr auto kFirstLooks = seconds(30);  // so long squeue is asked every second, then less often
constexpr auto kSoon = seconds(1);
constexpr auto kLater = seconds(10);
constexpr auto kMaxSilence = seconds(120);  // slurmctld may be restarted meanwhile
// Longer than a change waits for others after its time. An older notice is one that slurmctld could
// not take back.
constexpr Seconds kMaxOverdue = 300;

struct Options {
  std::string job;
  int timeout = -1;  ///< seconds; -1: none
  int after = -1;    ///< number of a notice; -1: not given
  bool ack = false;
};

int failure(const Globals& globals, Exit code, const std::string& text) {
  return report_failure(globals, kWaitResizeSchema, code, text);
}

/// What squeue shows of the job.
struct Seen {
  bool runs = false;
  std::optional<Notice> notice;
};

/// The error is about squeue, not about the job; `quiet`: what squeue says of it is lost.
Result<Seen> look(JobId job, bool quiet) {
  const auto answer = ask_squeue({.arguments = {"-j", fmt::format("{}", job)},
                                  .fields = {},
                                  .environment = {},
                                  .quiet = quiet});
  if (!answer) return tl::unexpected(answer.error());
  if (answer->exit != 0)
    return fail(fmt::format("squeue -j {} ended with code {}", job, answer->exit));
  Seen seen;
  for (const SqueueSection& section : answer->sections)
    for (const SqueueRow& row : section.rows) {
      if (row.job_id != fmt::format("{}", job) || row.texts.state != "RUNNING") continue;
      seen.runs = true;
      seen.notice = find_notice(row.texts.system_comment);
    }
  if (seen.notice && seen.notice->step == NoticeStep::kComing &&
      now() > seen.notice->due + kMaxOverdue)
    seen.notice.reset();
  return seen;
}

int code_of(const Notice& notice) {
  if (notice.keeps_gpus()) return kRunOtherwise;
  if (notice.step == NoticeStep::kDone) return kOk;
  if (notice.step == NoticeStep::kFailed) return kKeepSize;
  return notice.live ? kLeaveNodes : kCheckpoint;
}

std::string go(const std::string& nodes, const char* one, const char* several) {
  if (nodes.empty()) return "";
  const bool many = nodes.find_first_of(",[") != std::string::npos;
  return fmt::format("; {} {}", nodes, many ? several : one);
}

/// What it is told beside its GPUs, after `before`.
std::string how(const Notice& notice, const char* before) {
  std::string text = notice.batch > 0 ? fmt::format("{}batch {}", before, notice.batch) : "";
  if (!notice.plan.empty())
    text += fmt::format("{}plan {}", text.empty() ? before : ", ", notice.plan);
  return text;
}

std::string text_of(const Notice& notice, Seconds left) {
  const std::string head = fmt::format("Notice {}: ", notice.number);
  if (notice.keeps_gpus())
    return fmt::format("{}{} from now on; the job keeps its GPUs.", head, how(notice, ""));
  if (notice.step == NoticeStep::kFailed)
    return fmt::format("{}the change to {} GPUs was given up; the job keeps {}.", head, notice.gpus,
                       notice.from);
  if (notice.step == NoticeStep::kDone)
    return fmt::format("{}the job has {} GPUs instead of {}{}{}{}.", head, notice.gpus, notice.from,
                       go(notice.leave, "has gone", "have gone"),
                       go(notice.come, "has come", "have come"), how(notice, "; "));
  if (notice.live)
    return fmt::format("{}{} GPUs instead of {} in {} s at the latest{}{}. Save, and leave them.",
                       head, notice.gpus, notice.from, left, go(notice.leave, "goes", "go"),
                       how(notice, "; "));
  return fmt::format("{}{} in {} s at the latest. Save a checkpoint and wait.", head,
                     notice.gpus == 0 ? std::string("requeued to wait for GPUs")
                                      : fmt::format("restart with {} GPUs instead of {}",
                                                    notice.gpus, notice.from),
                     left);
}

int tell(const Globals& globals, JobId job, const Notice& notice) {
  const Seconds left = notice.due > 0 ? std::max<Seconds>(notice.due - now(), 0) : 0;
  const int code = code_of(notice);
  if (globals.json) {
    Json json = document(kWaitResizeSchema, "");
    json.update(json::json_of(WaitAnswer{job, notice, left, code}));
    print_json(json);
  } else {
    fmt::print("{}\n", text_of(notice, left));
  }
  return code;
}

bool comes(const std::optional<Notice>& notice) {
  return notice && notice->step == NoticeStep::kComing;
}

/// The number of the last notice that is not news.
std::int64_t known_notice(const Options& options, const std::optional<Notice>& notice) {
  if (options.after >= 0) return options.after;
  if (!notice) return 0;
  return comes(notice) && !options.ack ? notice->number - 1 : notice->number;
}

/// Tells Rubato that the job is ready.
Result<void> answer(const std::string& job, const Notice& notice) {
  const auto sent = send_message(
      job, render_message(Ack{.notice = notice.number, .ready = true, .seconds = {}}), false);
  if (!sent) return tl::unexpected(sent.error());
  if (sent->exit != 0) return fail(fmt::format("{} ended with code {}", sent->way, sent->exit));
  return {};
}

int wait(const Globals& globals, const Options& options, JobId job) {
  const auto began = steady_clock::now();
  auto heard = began;  // when squeue last answered
  auto seen = look(job, false);
  if (!seen) return failure(globals, kUnreachable, seen.error().text);
  const std::int64_t known = known_notice(options, seen->notice);
  if (options.ack) {
    if (!comes(seen->notice))
      return failure(globals, kFailed, fmt::format("job {} has no notice to answer", job));
    if (const auto sent = answer(fmt::format("{}", job), *seen->notice); !sent)
      return failure(globals, kFailed, sent.error().text);
  }
  for (;;) {
    if (seen && !seen->runs)
      return failure(globals, kNoMatch, fmt::format("job {} does not run", job));
    if (seen && seen->notice && seen->notice->number != known)
      return tell(globals, job, *seen->notice);
    const auto passed = steady_clock::now() - began;
    if (seen) heard = steady_clock::now();
    if (steady_clock::now() - heard > kMaxSilence)
      return failure(globals, kUnreachable, seen.error().text);
    duration<double> pause = passed < kFirstLooks ? kSoon : kLater;
    if (options.timeout >= 0) {
      const duration<double> left = seconds(options.timeout) - passed;
      if (left.count() <= 0) {
        (void)failure(globals, kFailed,
                      fmt::format("no news for job {} in {} s", job, options.timeout));
        return kTimeout;
      }
      pause = std::min(pause, left);
    }
    std::this_thread::sleep_for(pause);
    seen = look(job, true);
  }
}

// A checkpoint signal without "B:" reaches every process of a job's steps, this one too. Those are
// the signals that Slurm's users take for it; others end the command as usual.
void ignore_checkpoint_signals() {
  for (const int number : {SIGUSR1, SIGUSR2}) std::signal(number, SIG_IGN);
}

int run(const Globals& globals, const Options& options) {
  const char* const own = std::getenv("SLURM_JOB_ID");
  const std::string job = !options.job.empty() ? options.job : own == nullptr ? "" : own;
  if (job.empty())
    return failure(globals, kUsage,
                   "wait-resize: not in a job (SLURM_JOB_ID is not set); name one with --job");
  const auto selector = parse_selector(job);
  if (!selector) return failure(globals, kUsage, selector.error().text);
  if (selector->task || selector->part)
    return failure(
        globals, kUsage,
        fmt::format("wait-resize: --job: '{}' must be a number, as in SLURM_JOB_ID", job));
  if (options.ack && options.after >= 0)
    return failure(globals, kUsage, "wait-resize: --ack excludes --after; give one");
  ignore_checkpoint_signals();
  return wait(globals, options, selector->id);
}

std::function<int()> setup(CommandLine& line, const Globals& globals) {
  auto options = std::make_shared<Options>();
  line.number("--timeout", options->timeout, 0, kMaxTimeout, "SECONDS",
              "End with code 124 if nothing comes in this time (default: wait)");
  line.number("--after", options->after, 0, static_cast<int>(kMaxNotice), "NOTICE",
              "Wait for another notice than this one");
  line.flag("--ack", options->ack,
            "Answer the notice of a change that comes: ready; then wait for the next one");
  line.text("--job", options->job, "JOBID", "Job to wait for (default: SLURM_JOB_ID)");
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command wait_resize_command() {
  return {"wait-resize", "In a job: wait until Rubato changes its size", "", &setup};
}

}  // namespace rubato::tools
