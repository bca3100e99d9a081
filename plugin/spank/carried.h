// SPDX-License-Identifier: GPL-2.0-or-later
// Passes Rubato's decisions at the start of a job to its steps. srun --export=NONE passes on only
// variables whose names begin with SLURM. Every srun in a job of sbatch --export=NONE does the
// same.
#pragma once

#include <string>

#include "lib/hints/task_variables.h"

namespace rubato {

/// The name under which srun passes one of kTaskVariables to the step daemon.
inline std::string carried_name(const std::string& name) { return "SLURM_" + name; }

}  // namespace rubato
