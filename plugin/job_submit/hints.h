// SPDX-License-Identifier: GPL-2.0-or-later
// Hints at submit and at an update: read, checked against the request, recorded in the comment.
#pragma once

#include "lib/base/error.h"
#include "lib/config/config.h"
#include "plugin/slurm/stock/slurm_headers.h"

namespace rubato {

/// What came of a check that found nothing wrong.
enum class Checked {
  kNothing,  ///< no hints: nothing was looked at further, nothing touched
  kGood,
};

/// Reads the hints of a submission: options, environment, comment. Those of options and environment
/// are merged into the comment, in canonical form behind the site's own text. The error is what
/// sbatch is to print, a line for each thing that is wrong; `job` is unchanged then.
[[nodiscard]] Result<Checked> check_submit(job_desc_msg_t& job, const Config& config);

/// Checks an update by `uid` of the comment, or of a pending job's request, against the hints that
/// hold afterwards. Updates of other fields, and of users who may not update the job, are passed on
/// for slurmctld to answer.
[[nodiscard]] Result<Checked> check_update(const job_desc_msg_t& update, const job_record_t& job,
                                           std::uint32_t uid, const Config& config);

}  // namespace rubato
