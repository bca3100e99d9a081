// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/running_job.h"

#include <algorithm>

#include "plugin/slurm/read/job_view.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

Result<RunningJob> RunningJob::find(const JobKey& key) {
  job_record_t* job = find_job_record(key.id);
  const bool same =
      job != nullptr && job->details != nullptr && job->details->submit_time == key.submit;
  if (same && IS_JOB_SUSPENDED(job)) return fail("the job is suspended");
  if (!same || !IS_JOB_RUNNING(job)) return fail("the job does not run any more");
  return RunningJob(job);
}

const char* RunningJob::why_not_requeued() const {
  if (job_->batch_flag == 0) return "an interactive job is never restarted";
  if (job_->details->requeue == 0) return "it has Requeue=0, so Slurm does not requeue it";
  if (job_->het_job_id != 0) return "a part of a heterogeneous job is never restarted";
  if (job_->fed_details != nullptr) return "a job of a federation is never restarted";
  if (IS_JOB_COMPLETING(job_)) return "it is completing";
  if (IS_JOB_CONFIGURING(job_)) return "its nodes are not ready yet";
  if (job_->part_ptr == nullptr) return "its partition is gone";
  return nullptr;
}

Result<void> RunningJob::signal(const Checkpoint& checkpoint) const {
  const std::uint16_t flags = checkpoint.batch_only ? KILL_JOB_BATCH : KILL_STEPS_ONLY;
  const int code = job_signal(job_, static_cast<std::uint16_t>(checkpoint.signal), flags, 0, false);
  if (code != SLURM_SUCCESS) return fail(slurm_strerror(code));
  return {};
}

bool RunningJob::is_reached(const Checkpoint& checkpoint) const {
  return checkpoint.batch_only || runs_step(*job_);
}

Result<void> RunningJob::requeue(Seconds ahead) {
  const int code = job_requeue(0, job_->job_id, nullptr, false, 0);
  if (code != SLURM_SUCCESS) return fail(slurm_strerror(code));
  // By default slurmd empties the output file at each start (slurmstepd, io.c).
  if (job_->details->open_mode == 0) job_->details->open_mode = OPEN_MODE_APPEND;
  // Slurm itself sets a time that is past when the job's nodes are free (job_mgr.c,
  // batch_requeue_fini()).
  job_->details->begin_time = time(nullptr) + static_cast<time_t>(ahead);
  last_job_update = time(nullptr);
  return {};
}

RequeueState requeue_state(JobId id, int runs) {
  const job_record_t* const job = find_job_record(id);
  if (job == nullptr || job->details == nullptr || IS_JOB_FINISHED(job))
    return RequeueState::kEnded;
  if (!IS_JOB_PENDING(job) || static_cast<int>(job->restart_cnt) <= runs)
    return RequeueState::kGone;
  if (IS_JOB_COMPLETING(job)) return RequeueState::kCompleting;
  return job->priority == 0 ? RequeueState::kHeld : RequeueState::kFree;
}

std::optional<Seconds> make_eligible(JobId id, Seconds ahead) {
  job_record_t* const job = find_job_record(id);
  if (job == nullptr || job->details == nullptr || !IS_JOB_PENDING(job)) return std::nullopt;
  const time_t soon = time(nullptr) + static_cast<time_t>(ahead);
  if (job->details->begin_time <= soon) return std::nullopt;
  job->details->begin_time = soon;
  last_job_update = time(nullptr);
  return soon;
}

}  // namespace rubato
