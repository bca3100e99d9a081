// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/job_notice.h"

#include <string>

#include "lib/hints/message.h"
#include "plugin/slurm/release/slurm_headers.h"
#include "plugin/slurm/write/set_text.h"

namespace rubato {

namespace {

std::string comment_of(const job_record_t& job) {
  return job.system_comment != nullptr ? job.system_comment : "";
}

void show(job_record_t& job, const Notice* notice) {
  const std::string before = comment_of(job);
  const std::string after = with_notice(before, notice);
  if (after == before) return;
  set_text(job.system_comment, after);
  last_job_update = time(nullptr);
}

}  // namespace

std::int64_t show_notice(JobId id, Notice notice) {
  job_record_t* const job = find_job_record(id);
  if (job == nullptr || !IS_JOB_RUNNING(job)) return 0;
  const auto last = find_notice(comment_of(*job));
  notice.number = last && last->number < kMaxNotice ? last->number + 1 : 1;
  show(*job, &notice);
  return notice.number;
}

void remove_notice(JobId id) {
  job_record_t* const job = find_job_record(id);
  if (job != nullptr) show(*job, nullptr);
}

}  // namespace rubato
