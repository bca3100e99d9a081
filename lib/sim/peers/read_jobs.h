// SPDX-License-Identifier: GPL-2.0-or-later
// Workloads in the files of the peers' simulators: one row a job.
#pragma once

#include <string>

#include "lib/base/error.h"
#include "lib/sim/engine/workload.h"

namespace rubato::sim {

/// Each reads a CSV file with a heading; columns that it does not name are passed over. Jobs come
/// in the order of their arrivals, and those that arrive together in that of the number at the end
/// of their names: the order of the published files, whatever the order of the rows is.
/// SimJob::key, model, arrival and gpus (rigid) are always set. Errors begin "FILE:LINE:COLUMN:"
/// and name the expected form; so do those of names that come twice and of files without a job.
///
/// Sia and Pollux: name, time, application, num_replicas, batch_size (SimJob::batch). Its work is
/// not told: it is to train the application to its end.
[[nodiscard]] Result<JobList> read_sia_jobs(const std::string& path);
/// Rubick: name, submission_time, application, num_gpus, exec_plan (SimJob::plan), steps
/// (SimJob::work, one more than told: the simulator counts so), is_sla (guaranteed).
[[nodiscard]] Result<JobList> read_rubick_jobs(const std::string& path);
/// Muri: job_id, num_gpu, submit_time, iterations (SimJob::work), model_name, iteration_time, kept
/// in SimJob::more; times in ms there.
[[nodiscard]] Result<JobList> read_muri_jobs(const std::string& path);
/// Tiresias: job_id, num_gpu, submit_time, model_name, duration (SimJob::work), in seconds.
[[nodiscard]] Result<JobList> read_tiresias_jobs(const std::string& path);

}  // namespace rubato::sim
