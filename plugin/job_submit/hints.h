// SPDX-License-Identifier: GPL-2.0-or-later
// Checks hints at submit and at an update against the request, and records them in the comment.
#pragma once

#include "lib/base/error.h"
#include "lib/config/config.h"
#include "plugin/slurm/write/submission.h"

namespace rubato {

/// Result of a check that found no error.
enum class Checked {
  kNothing,  ///< no hints: nothing was checked or changed
  kGood,
};

/// Reads the hints of a submission from options, environment and comment, and merges them into the
/// comment, in canonical form after the site's own text. The error is the text that sbatch prints,
/// one line per mistake; `job` is unchanged then.
[[nodiscard]] Result<Checked> check_submit(Submission& job, const Config& config);

/// Checks an update of the comment, or of a pending job's request, against the hints that hold
/// afterwards. Other updates, and those of users who may not update the job, pass: slurmctld
/// answers them.
[[nodiscard]] Result<Checked> check_update(const JobUpdate& update, const Config& config);

}  // namespace rubato
