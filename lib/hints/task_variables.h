// SPDX-License-Identifier: GPL-2.0-or-later
// Environment variables that tell a job the decisions at its start.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace rubato {

/// Variables that slurmctld sets for a job (lib/json/task_env.h). The SPANK plugin passes them to
/// its steps, but not to jobs that it submits.
inline constexpr const char* kTaskVariables[] = {
    "RUBATO_JOB_TYPE",     "RUBATO_GPUS", "RUBATO_GPU_TYPE",       "RUBATO_BATCH",
    "RUBATO_BATCH_SHARES", "RUBATO_PLAN", "RUBATO_RESTART_REASON", "RUBATO_RESIZE_COUNT"};

/// The variable that stores the submitted request of a job started at another size, until it is
/// pending again. It is in the job's record, so that both are saved and lost together.
inline constexpr const char* kKeptRequest = "RUBATO_REQUEST";

[[nodiscard]] inline bool is_task_variable(std::string_view name) {
  return std::find(std::begin(kTaskVariables), std::end(kTaskVariables), name) !=
         std::end(kTaskVariables);
}

}  // namespace rubato
