// SPDX-License-Identifier: GPL-2.0-or-later
// What Rubato decided at the start of a job, on its way into the steps. srun --export=NONE, which
// every srun in a job of sbatch --export=NONE is, passes on variables whose names begin with SLURM
// only.
#pragma once

#include <string>

namespace rubato {

/// Variables that slurmctld gives a job; lib/report/task_env.h.
inline constexpr const char* kDecisions[] = {
    "RUBATO_JOB_TYPE",     "RUBATO_GPUS", "RUBATO_GPU_TYPE",       "RUBATO_BATCH",
    "RUBATO_BATCH_SHARES", "RUBATO_PLAN", "RUBATO_RESTART_REASON", "RUBATO_RESIZE_COUNT"};

/// The name under which one of them travels from srun to the step daemon.
inline std::string carried_name(const std::string& name) { return "SLURM_" + name; }

}  // namespace rubato
