// SPDX-License-Identifier: GPL-2.0-or-later
// Code shared by sbatch, salloc and srun: the --dl-* options, the RUBATO_DL_* variables, and how
// both reach slurmctld.
#pragma once

#include "plugin/spank/spank_header.h"

#include <span>
#include <string>
#include <vector>

#include "lib/hints/read.h"

namespace rubato {

/// Registers every option of the table of hints. Call only in slurm_spank_init, in every context.
void register_options(spank_t spank);

/// False: options are accepted with any value. The default is true.
void check_values(bool check);

/// The options given so far, in order.
[[nodiscard]] const std::vector<OptionPair>& given_options();
void forget_options();

/// Removes the hints of an enclosing job from this process's environment, so that they do not apply
/// to jobs submitted inside it.
void forget_enclosing_job();
/// The same for the variables that Rubato set at the enclosing job's start. Not for an srun that
/// starts a step.
void forget_enclosing_start();

/// Moves the RUBATO_DL_* variables out of this process's environment: they apply to this job, not
/// to jobs submitted inside it.
[[nodiscard]] std::vector<std::string> take_variables();

/// Checks the hints and writes them to the job's control environment, which reaches slurmctld's
/// job_submit whatever --export says. RUBATO_DL_NAME=VALUE stands for an option,
/// RUBATO_DL_NAME_UNSET=1 for its no- twin, RUBATO_DLENV_NAME=VALUE for a variable. On a wrong
/// hint, exits with 1 before the submission.
void hand_over(spank_t spank, std::span<const OptionPair> options,
               const std::vector<std::string>& variables);

}  // namespace rubato
