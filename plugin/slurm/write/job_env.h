// SPDX-License-Identifier: GPL-2.0-or-later
// Environment variables that describe a start to the job's tasks.
#pragma once

#include "lib/core/job.h"
#include "lib/json/job_annotation.h"
#include "lib/json/task_env.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// Writes the environment of this start into a job that just started; replaces that of an earlier
/// start. Call between select_nodes() and the launch. Needs LockKind::kAct.
void set_job_env(job_record_t& record, const Job& job, const ChosenRun& run = {});

/// The GPUs that the job holds, from its record.
[[nodiscard]] HeldGpus held_gpus(const job_record_t& record);

}  // namespace rubato
