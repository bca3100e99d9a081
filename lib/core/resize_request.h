// SPDX-License-Identifier: GPL-2.0-or-later
// The request of a job at another size, scaled from the Slurm request (rubato-hints(7)).
#pragma once

#include <cstdint>
#include <string>

#include "lib/base/error.h"
#include "lib/core/job.h"

namespace rubato {

/// Total requested GPUs; the minimum if the request has no fixed number.
[[nodiscard]] std::int64_t requested_gpus(const Job& job);

/// The same pending job as if it had requested `gpus` GPUs in total; 0: without GPUs, on CPU nodes.
/// `gpu_type` sets the type if the request has none; "" leaves it as requested.
///
/// At the requested size nothing changes but the type. Else, per GPU of the request:
/// - tasks scale and must stay whole; a single task stays one, with CPUs per task scaled;
/// - CPUs scale, rounded up; a job that names none stays at one;
/// - memory named per node becomes memory per GPU, rounded up, where nodes are free;
/// - nodes are free, unless -N is fixed together with --gpus-per-node (whole nodes are the unit), a
///   task a node is asked for (so is a node below its own size), or -N 1 is.
/// Without GPUs, tasks, CPUs and memory stay as requested; a job that counts them by GPU has no
/// such size.
///
/// Only sizes in the job's hints are accepted, device=any for 0. The error names the size and the
/// hint or option that prevents it.
[[nodiscard]] Result<Job> at_size(const Job& job, int gpus, const std::string& gpu_type);

}  // namespace rubato
