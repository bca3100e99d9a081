// SPDX-License-Identifier: GPL-2.0-or-later
// Stands in front of job_submit/logging. At submit it checks hints, and notes in this thread that
// an answer is wanted at once (salloc -I, srun -I), so that the gate lets the placement test
// through. At an update it hears messages and checks hints again.
#include <stdexcept>

#include "lib/base/log.h"
#include "lib/hints/message.h"
#include "plugin/common/exported.h"
#include "plugin/common/guard.h"
#include "plugin/common/pair.h"
#include "plugin/job_submit/hints.h"
#include "plugin/job_submit/messages.h"
#include "plugin/slurm/stock/slurm_headers.h"
#include "plugin/slurm/write/job_rewrite.h"

extern "C" {
RUBATO_EXPORTED extern const char plugin_name[];
RUBATO_EXPORTED extern const char plugin_type[];
RUBATO_EXPORTED extern const uint32_t plugin_version;
const char plugin_name[] = "Rubato in front of job_submit/logging";
const char plugin_type[] = "job_submit/logging";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;
}

namespace rubato {

namespace {

// The codes have words in every Slurm client: "Invalid argument", and no word of it is wrong.
constexpr int kBadHint = EINVAL;

Pair* pair() {
  static Pair* const found = find_pair(plugin_type);
  return found;
}

// Before the loop has read rubato.conf hints are checked without JobType= lines.
std::shared_ptr<const Config> config_now() {
  auto config = pair()->config();
  return config != nullptr ? config : std::make_shared<const Config>();
}

void note_submit(const job_desc_msg_t& job, uint32_t uid) {
  // The job will belong to user_id; root may submit for others.
  const bool own = job.user_id == NO_VAL;
  pair()->note_submit(own ? uid : job.user_id, job.immediate != 0);
}

int submit(job_desc_msg_t& job, uint32_t uid, char** error) {
  if (pair() == nullptr) return SLURM_SUCCESS;
  const auto config = config_now();
  if (config->injected(Fault::kThrowSubmit)) throw std::runtime_error("injected at submit");
  note_submit(job, uid);
  if (config->off(Mechanism::kHints)) return SLURM_SUCCESS;
  const auto checked = check_submit(job, *config);
  if (checked) {
    if (*checked == Checked::kGood) pair()->note_hints({.jobs = 1});
    return SLURM_SUCCESS;
  }
  pair()->note_hints({.refused = 1});
  xfree(*error);
  *error = xstrdup(checked.error().text.c_str());
  return kBadHint;
}

// 22.05 has no words for the sender of an update: the log says what its code cannot.
void say_refused(const job_record_t& job, uint32_t uid, std::string why) {
  for (std::size_t at = 0; (at = why.find('\n', at)) != std::string::npos;)
    why.replace(at, 1, "; ");
  log().info("update of JobId={} by uid {} is refused: {}", job.job_id, uid, why);
}

int modify(job_desc_msg_t& update, job_record_t& job, uint32_t uid) {
  if (pair() == nullptr) return SLURM_SUCCESS;
  const auto config = config_now();
  if (update.comment != nullptr && is_message(update.comment) &&
      !config->off(Mechanism::kMessages)) {
    const MessageAnswer answer = take_message(update, job, uid, *config, *pair());
    if (answer.code == SLURM_SUCCESS) return SLURM_SUCCESS;
    say_refused(job, uid, answer.why);
    return answer.code;
  }
  // What is changed now is the request as submitted, not the size of its last start.
  if (!config->off(Mechanism::kRestore)) (void)restore_request(job);
  if (config->off(Mechanism::kHintsUpdate)) return SLURM_SUCCESS;
  const auto checked = check_update(update, job, uid, *config);
  if (checked) {
    if (*checked == Checked::kGood) pair()->note_hints({.updates = 1});
    return SLURM_SUCCESS;
  }
  pair()->note_hints({.updates_refused = 1});
  say_refused(job, uid, checked.error().text);
  return kBadHint;
}

EntryPoint submit_entry{"job_submit"};
EntryPoint modify_entry{"job_modify"};

}  // namespace

}  // namespace rubato

extern "C" {

RUBATO_EXPORTED int init() { return SLURM_SUCCESS; }

RUBATO_EXPORTED void fini() {}

RUBATO_EXPORTED int job_submit(job_desc_msg_t* job, uint32_t uid, char** error) {
  return rubato::guard(
      rubato::submit_entry, [&] { return rubato::submit(*job, uid, error); },
      [] { return SLURM_SUCCESS; });
}

RUBATO_EXPORTED int job_modify(job_desc_msg_t* update, job_record_t* job, uint32_t uid) {
  return rubato::guard(
      rubato::modify_entry, [&] { return rubato::modify(*update, *job, uid); },
      [] { return SLURM_SUCCESS; });
}

}  // extern "C"
