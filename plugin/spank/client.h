// SPDX-License-Identifier: GPL-2.0-or-later
// What sbatch, salloc and srun share: the --dl-* options, the RUBATO_DL_* variables, and the way in
// which both reach slurmctld.
#pragma once

#include "plugin/spank/spank_header.h"

#include <span>
#include <string>
#include <vector>

#include "lib/hints/read.h"

namespace rubato {

/// Registers every option of the table of hints. In slurm_spank_init only, in every context.
void register_options(spank_t spank);

/// The options that were given so far, in order.
[[nodiscard]] const std::vector<OptionPair>& given_options();
void forget_options();

/// Takes out of this process's environment what an enclosing job was submitted with, so that it
/// counts for no job that is submitted inside of it.
void forget_enclosing_job();
/// The same with what Rubato told the enclosing job of its start. Not for srun when it starts a
/// step.
void forget_enclosing_start();

/// Moves the RUBATO_DL_* variables out of this process's environment: they are for this job, and
/// not for what is submitted inside of it.
[[nodiscard]] std::vector<std::string> take_variables();

/// Checks the hints and puts them into the job's control environment, which reaches slurmctld's
/// job_submit and is independent of --export: RUBATO_DL_NAME=VALUE for an option,
/// RUBATO_DL_NAME_UNSET=1 for its no- twin, RUBATO_DLENV_NAME=VALUE for a variable. Wrong ones end
/// the program with 1, before anything is submitted.
void hand_over(spank_t spank, std::span<const OptionPair> options,
               const std::vector<std::string>& variables);

}  // namespace rubato
