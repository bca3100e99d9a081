// SPDX-License-Identifier: GPL-2.0-or-later
// The environment by which a job hears what was decided at its start.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace rubato {

/// Variables that slurmctld gives a job (lib/json/task_env.h), the SPANK plugin carries into its
/// steps, and no job hands on to one that it submits.
inline constexpr const char* kTaskVariables[] = {
    "RUBATO_JOB_TYPE",     "RUBATO_GPUS", "RUBATO_GPU_TYPE",       "RUBATO_BATCH",
    "RUBATO_BATCH_SHARES", "RUBATO_PLAN", "RUBATO_RESTART_REASON", "RUBATO_RESIZE_COUNT"};

/// The variable in which a job that was started at another size carries the request it was
/// submitted with, until it waits again: in its record, so that both are saved and lost together.
inline constexpr const char* kKeptRequest = "RUBATO_REQUEST";

[[nodiscard]] inline bool is_task_variable(std::string_view name) {
  return std::find(std::begin(kTaskVariables), std::end(kTaskVariables), name) !=
         std::end(kTaskVariables);
}

}  // namespace rubato
