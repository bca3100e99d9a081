// SPDX-License-Identifier: GPL-2.0-or-later
// Checks the hints of a submission or update against the request, and records them in the comment.
#pragma once

#include "lib/base/error.h"
#include "lib/config/config.h"
#include "plugin/slurm/write/submission.h"

namespace rubato {

/// Result of a check that found no error.
enum class Checked {
  kNothing,  ///< no hints: nothing checked or changed
  kGood,
};

/// Reads the hints of a submission from options, environment and comment. Merges them into the
/// comment, in canonical form after the site's own text. The error is the text that sbatch prints,
/// one line per mistake; `job` is then unchanged. `warning`: what the user probably did not mean,
/// for a job that is accepted.
[[nodiscard]] Result<Checked> check_submit(Submission& job, const Config& config,
                                           std::string& warning);

/// Checks an update of the comment, or of a pending job's request, against the hints after the
/// update. Other updates pass, as do updates by users without permission: slurmctld handles them.
[[nodiscard]] Result<Checked> check_update(const JobUpdate& update, const Config& config);

}  // namespace rubato
