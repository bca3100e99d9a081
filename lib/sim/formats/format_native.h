// SPDX-License-Identifier: GPL-2.0-or-later
// The simulator's own formats of workloads and throughputs: rubato-simulate(1) lists their columns.
#pragma once

#include <string>

#include "lib/base/csv.h"
#include "lib/sim/engine/suite.h"

namespace rubato::sim {

/// Columns `job`, `arrival_s`, `gpus`, and `run_s` or `work` with `model`; optional ones: types,
/// min_gpus, max_gpus, weight, batch, start_s, restart_s, time_limit_s, cores_per_gpu,
/// memory_mib_per_gpu, account. Unknown columns are errors. Jobs are sorted by arrival, then key.
[[nodiscard]] Result<JobList> parse_native_jobs(const CsvTable& table);

/// Columns `model`, `gpu_type`, `gpus`, `throughput` (work per second). Throughput is linear
/// between measured GPU counts and 0 outside. Without profiles, `work` is the run time in seconds
/// at the requested GPU count, and throughput is proportional to GPUs on each type.
[[nodiscard]] Result<Suite> read_native_suite(const std::string& workload,
                                              const std::string& profiles,
                                              const ClusterShape& cluster);

}  // namespace rubato::sim
