// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/job_ends.h"

#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

std::vector<JobKey> completed_jobs(const std::vector<JobKey>& ended) {
  std::vector<JobKey> completed;
  for (const JobKey& key : ended) {
    const job_record_t* const job = find_job_record(key.id);
    if (job == nullptr || job->details == nullptr || job->details->submit_time != key.submit)
      continue;
    if (IS_JOB_COMPLETE(job)) completed.push_back(key);
  }
  return completed;
}

}  // namespace rubato
