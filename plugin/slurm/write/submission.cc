// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/submission.h"

#include <cstdlib>
#include <cstring>

#include "lib/hints/message.h"
#include "plugin/slurm/read/job_desc_view.h"
#include "plugin/slurm/release/differences.h"
#include "plugin/slurm/release/slurm_headers.h"
#include "plugin/slurm/write/job_rewrite.h"
#include "plugin/slurm/write/set_text.h"

namespace rubato {

namespace {

std::string text(const char* words) { return words != nullptr ? words : ""; }

// A number alone may refer to an array; slurmctld then calls the hook for each of its tasks. The
// last task split off keeps the array's number as its job id. SLURM_JOB_ID has this number, so it
// refers to this task. Null for "12_[1-4]", "12_*".
const job_record_t* named_job(const job_desc_msg_t& update, const job_record_t& job) {
  const char* name = update.job_id_str;
  if (name == nullptr) return &job;
  char* end = nullptr;
  const unsigned long id = std::strtoul(name, &end, 10);
  if (*end == '\0') {
    return job.array_job_id == id ? find_job_record(static_cast<std::uint32_t>(id)) : &job;
  }
  const bool one_task = *end == '_' && std::strspn(end + 1, "0123456789") == std::strlen(end + 1);
  return one_task || *end == '+' ? &job : nullptr;
}

}  // namespace

std::string Submission::comment() const { return text(job_.comment); }

void Submission::set_comment(const std::string& text) { set_text(job_.comment, text); }

PassedHints Submission::passed() const { return passed_by(job_); }

RequestFacts Submission::facts() const { return facts_of(job_, slurm_conf.job_requeue != 0); }

std::uint32_t Submission::owner(std::uint32_t uid) const {
  return job_.user_id == NO_VAL ? uid : job_.user_id;
}

bool Submission::immediate() const { return job_.immediate != 0; }

JobId JobUpdate::job_id() const { return job_.job_id; }

const char* JobUpdate::comment() const { return update_.comment; }

void JobUpdate::drop_message() {
  xfree(update_.comment);
  if (xstrcmp(update_.partition, kMessagePartition) == 0) xfree(update_.partition);
}

std::string JobUpdate::comment_after() const {
  return text(update_.comment != nullptr ? update_.comment : job_.comment);
}

bool JobUpdate::changes_request() const {
  const job_record_t* const record = &job_;  // the macro takes a pointer
  return IS_JOB_PENDING(record) && touches_request(update_);
}

bool JobUpdate::has_details() const { return job_.details != nullptr; }

// Same tests as slurmctld (job_mgr.c, _update_job), in the same order: cheap tests first.
bool JobUpdate::permitted() const {
  if (uid_ == job_.user_id || validate_operator(uid_)) return true;
  return release::coordinates(uid_, job_.account) &&
         (update_.account == nullptr || release::coordinates(uid_, update_.account));
}

RequestFacts JobUpdate::facts_after() const {
  RequestFacts facts = facts_of(job_);
  if (changes_request()) apply_update(update_, facts);
  return facts;
}

bool JobUpdate::find_target(MessageTarget& target) const {
  const job_record_t* job = named_job(update_, job_);
  if (job == nullptr) return false;
  target = {.key = {job->job_id, job->details != nullptr ? job->details->submit_time : 0},
            .owner = job->user_id,
            .running = IS_JOB_RUNNING(job),
            .suspended = IS_JOB_SUSPENDED(job),
            .restarts = static_cast<int>(job->restart_cnt)};
  return true;
}

void JobUpdate::restore_request() { (void)rubato::restore_request(job_); }

bool is_slurm_user(std::uint32_t uid) { return validate_slurm_user(uid); }

}  // namespace rubato
