// SPDX-License-Identifier: GPL-2.0-or-later
// Reads Slurm's job and partition records. All functions need at least the job and partition read
// locks.
#pragma once

#include <string>

#include "lib/config/config.h"
#include "lib/core/job.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// Why Rubato leaves a pending job in `part` to stock Slurm, as text for users; null if Rubato
/// manages it. (DESIGN section 2: het jobs, shards, MPS, MIG, gang-scheduled partitions, federation
/// siblings and requests that Rubato does not support pass through.)
[[nodiscard]] const char* why_unmanaged(const job_record_t& job, const part_record_t& part,
                                        const Config& config);

/// The job's request per node. The GPU type comes from its --gpus... strings, because the parsed
/// list may contain a type from an earlier start. `whole_memory` is the memory of a node where
/// memory is counted without a default, else 0. There, cons_tres gives a job without a memory
/// request all of the node's memory.
[[nodiscard]] Request request_of(const job_record_t& job, const part_record_t& part,
                                 MiB whole_memory);

/// The same of a running job as it was submitted, whatever size it was started at.
[[nodiscard]] Request submitted_request_of(const job_record_t& job, const part_record_t& part,
                                           MiB whole_memory);

/// The minimum memory of a node of `part`, if jobs without a memory request get all of it; else 0.
[[nodiscard]] MiB whole_memory_of(const part_record_t& part);

/// The job's time limit in `part` in seconds; kForever if it has none. slurmctld sets the same at
/// the start (node_scheduler.c select_nodes).
[[nodiscard]] Seconds time_limit_of(const job_record_t& job, const part_record_t& part);

/// The JOBID that squeue shows.
[[nodiscard]] std::string label_of(const job_record_t& job);

/// Whether a step of it runs that a user started: neither its batch script nor the external step.
[[nodiscard]] bool runs_step(const job_record_t& job);

/// The first job_record_t entry named gpu in the GRES list; null if there is none.
[[nodiscard]] gres_job_state_t* gpu_request(list_t* gres_list);

/// Whether the request names a GPU type (in tres_per_job or a similar field).
[[nodiscard]] bool names_gpu_type(const job_record_t& job);

}  // namespace rubato
