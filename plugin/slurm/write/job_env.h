// SPDX-License-Identifier: GPL-2.0-or-later
// What a job hears of its start -> details->env_sup, which batch scripts, salloc and srun get.
#pragma once

#include "lib/core/job.h"
#include "lib/json/job_annotation.h"
#include "lib/json/task_env.h"
#include "plugin/slurm/stock/slurm_headers.h"

namespace rubato {

/// Gives a job that was just started the environment of this start; what an earlier one left is
/// replaced. Between select_nodes() and the launch, under LockKind::kAct.
void set_job_env(job_record_t& record, const Job& job, const ChosenRun& run = {});

/// Takes away what an earlier start by Rubato left: this one is stock Slurm's.
void clear_job_env(job_record_t& record);

/// GPUs that the job holds, by Slurm's own records.
[[nodiscard]] HeldGpus held_gpus(const job_record_t& record);

}  // namespace rubato
