// SPDX-License-Identifier: GPL-2.0-or-later
// Workloads in the file formats of the peers' simulators: one row per job.
#pragma once

#include <string>

#include "lib/base/error.h"
#include "lib/sim/engine/workload.h"

namespace rubato::sim {

/// Each function reads a CSV file with a heading and ignores columns that it does not name. Jobs
/// are sorted by arrival, then by the number at the end of their names. This is the order of the
/// published files, whatever the order of rows. SimJob::key, model, arrival and gpus (rigid) are
/// always set. Errors begin with "FILE:LINE:COLUMN:" and name the expected form. Duplicate names
/// and files without jobs are errors.
///
/// Sia and Pollux: name, time, application, num_replicas, batch_size (SimJob::batch). The work is
/// not in the file: a job trains its application to the end.
[[nodiscard]] Result<JobList> read_sia_jobs(const std::string& path);
/// Rubick: name, submission_time, application, num_gpus, exec_plan (SimJob::plan), steps
/// (SimJob::work, plus one as the simulator counts), is_sla (guaranteed).
[[nodiscard]] Result<JobList> read_rubick_jobs(const std::string& path);
/// Muri: job_id, num_gpu, submit_time, iterations (SimJob::work), model_name, iteration_time (kept
/// in SimJob::more). Times in the file are in ms.
[[nodiscard]] Result<JobList> read_muri_jobs(const std::string& path);
/// Tiresias: job_id, num_gpu, submit_time, model_name, duration (SimJob::work), in seconds.
[[nodiscard]] Result<JobList> read_tiresias_jobs(const std::string& path);

}  // namespace rubato::sim
