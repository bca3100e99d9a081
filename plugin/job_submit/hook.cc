// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/job_submit/hook.h"

#include <cerrno>
#include <stdexcept>

#include "lib/base/log.h"
#include "lib/hints/message.h"
#include "plugin/job_submit/hints.h"
#include "plugin/job_submit/messages.h"

namespace rubato {

namespace {

// Every Slurm client has a text for this code: "Invalid argument".
constexpr int kBadHint = EINVAL;

// Before the loop has read rubato.conf, hints are checked without JobType= lines.
std::shared_ptr<const Config> config_now(const Pair& pair) {
  auto config = pair.config();
  return config != nullptr ? config : std::make_shared<const Config>();
}

// slurmctld 22.05 sends only a code to the sender, so the reason goes to the log, too.
void refuse(const JobUpdate& update, std::string why, std::string& error) {
  error = why;
  for (std::size_t at = 0; (at = why.find('\n', at)) != std::string::npos;)
    why.replace(at, 1, "; ");
  log().info("refused update of JobId={} by uid {}: {}", update.job_id(), update.uid(), why);
}

}  // namespace

int on_submit(Pair& pair, Submission& job, std::uint32_t uid, std::string& error) {
  const auto config = config_now(pair);
  if (config->injected(Fault::kThrowSubmit)) throw std::runtime_error("injected at submit");
  pair.note_submit(job.owner(uid), job.immediate());
  if (config->off(Mechanism::kHints)) return kSlurmSuccess;
  const auto checked = check_submit(job, *config, error);
  if (checked) {
    // sbatch prints a text of an accepted job too.
    if (*checked == Checked::kGood) pair.note_hints({.jobs = 1});
    return kSlurmSuccess;
  }
  pair.note_hints({.refused = 1});
  error = checked.error().text;
  return kBadHint;
}

int on_modify(Pair& pair, JobUpdate& update, std::string& error) {
  const auto config = config_now(pair);
  if (update.comment() != nullptr && is_message(update.comment()) &&
      !config->off(Mechanism::kMessages)) {
    const MessageAnswer answer = take_message(update, *config, pair);
    if (answer.code != kSlurmSuccess) refuse(update, answer.why, error);
    return answer.code;
  }
  // The update applies to the submitted request, not to the size of the last start.
  // Slurm tests the sender's right after this hook.
  if (!config->off(Mechanism::kRestore) && update.permitted()) update.restore_request();
  if (config->off(Mechanism::kHintsUpdate)) return kSlurmSuccess;
  const auto checked = check_update(update, *config);
  if (checked) {
    if (*checked == Checked::kGood) pair.note_hints({.updates = 1});
    return kSlurmSuccess;
  }
  pair.note_hints({.updates_refused = 1});
  refuse(update, checked.error().text, error);
  return kBadHint;
}

int answer_without_memory(const char* comment) noexcept {
  return comment != nullptr && is_message(comment) ? EAGAIN : kSlurmSuccess;
}

}  // namespace rubato
