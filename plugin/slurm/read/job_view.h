// SPDX-License-Identifier: GPL-2.0-or-later
// Reading Slurm's job and partition records. All under at least the job and partition read locks.
#pragma once

#include <string>

#include "lib/config/config.h"
#include "lib/core/job.h"
#include "plugin/slurm/stock/slurm_headers.h"

namespace rubato {

/// Why Rubato leaves a pending job to stock Slurm in `part`, in words for a person; null if it
/// manages it. (DESIGN section 2: het jobs, shards, MPS, MIG, gang-scheduled partitions,
/// federation siblings and whatever Rubato does not understand pass through.)
[[nodiscard]] const char* why_unmanaged(const job_record_t& job, const part_record_t& part,
                                        const Config& config);

/// What the job asks of nodes. The GPU type comes from its --gpus... strings, since the parsed list
/// may still carry a type that an earlier start chose.
/// `whole_memory` is what a node gives to a job that names no memory where memory is counted and
/// has no default (cons_tres then takes the node's memory whole), 0 elsewhere.
[[nodiscard]] Request request_of(const job_record_t& job, const part_record_t& part,
                                 MiB whole_memory);

/// The least memory of a node of `part`, if jobs without a memory request take it whole; else 0.
[[nodiscard]] MiB whole_memory_of(const part_record_t& part);

/// Its time limit in `part` in seconds, kForever without one (as slurmctld sets it at the start,
/// node_scheduler.c select_nodes).
[[nodiscard]] Seconds time_limit_of(const job_record_t& job, const part_record_t& part);

/// What squeue shows as JOBID.
[[nodiscard]] std::string label_of(const job_record_t& job);

/// The first job_record_t entry of its GRES list named gpu; null without one.
[[nodiscard]] gres_job_state_t* gpu_request(List gres_list);

/// Whether the request names a GPU type itself (in tres_per_job and its kin).
[[nodiscard]] bool names_gpu_type(const job_record_t& job);

}  // namespace rubato
