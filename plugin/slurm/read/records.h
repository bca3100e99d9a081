// SPDX-License-Identifier: GPL-2.0-or-later
// Checks that the records of the running slurmctld have the sizes and magics of this build's
// headers. A similar but different release shifts fields silently.
#pragma once

#include <string>

#include "lib/base/error.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

struct RecordCheck {
  bool fit = false;
  bool jobs = false;  ///< a job was there to compare
  std::string text;   ///< the sizes; if they do not fit, the record and both sizes
};

/// Compares slurmctld's first partition, node and job. Needs the read locks of all of them.
[[nodiscard]] RecordCheck check_records();

/// Checks the job record and its details. Cheap: caches the first result.
[[nodiscard]] bool job_record_fits(const job_record_t& job);

/// 22.05 sets db_index to "being stored" after each resize, and refuses updates until slurmdbd has
/// answered (job_mgr.c, job_post_resize_acctg and _update_job). Without slurmdbd no answer comes:
/// true for such a job.
[[nodiscard]] bool waits_without_slurmdbd(const job_record_t& job);

/// slurmctld keeps resize_time after a requeue (job_mgr.c, batch_requeue_fini). slurmdbd then takes
/// the next run for the last row of the run before (accounting_storage_slurmdbd.c,
/// _setup_job_start_msg): true for such a job that waits.
[[nodiscard]] bool keeps_resize_time(const job_record_t& job);

}  // namespace rubato
