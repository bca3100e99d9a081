// SPDX-License-Identifier: GPL-2.0-or-later
// A job as it would be asked for at another size: the Slurm request is the reference, everything
// else scales from it (rubato-hints(7), SIZES).
#pragma once

#include <cstdint>
#include <string>

#include "lib/base/error.h"
#include "lib/core/job.h"

namespace rubato {

/// GPUs in total that the request asks for: the fewest where it leaves their number open.
[[nodiscard]] std::int64_t requested_gpus(const Job& job);

/// The same pending job as if it had asked for `gpus` GPUs in total; 0: without GPUs, on CPU nodes.
/// `gpu_type` fills in a type where the request names none; "" leaves it as requested.
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
/// Only sizes in the job's hints are accepted, device=any for 0. Errors name the size and the hint
/// or option in the way; nothing is half done.
[[nodiscard]] Result<Job> at_size(const Job& job, int gpus, const std::string& gpu_type);

}  // namespace rubato
