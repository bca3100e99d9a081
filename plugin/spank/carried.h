// SPDX-License-Identifier: GPL-2.0-or-later
// What Rubato decided at the start of a job, on its way into the steps. srun --export=NONE, which
// every srun in a job of sbatch --export=NONE is, passes on variables whose names begin with SLURM
// only.
#pragma once

#include <string>

#include "lib/hints/task_variables.h"

namespace rubato {

/// The name under which one of kTaskVariables travels from srun to the step daemon.
inline std::string carried_name(const std::string& name) { return "SLURM_" + name; }

}  // namespace rubato
