// SPDX-License-Identifier: GPL-2.0-or-later
// Environment variables in a job's record (details->env_sup), which batch scripts, salloc and srun
// receive. Needs LockKind::kAct.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct job_record;

namespace rubato {

/// Removes the variables whose name `drop` accepts. `job` must have details.
void drop_variables(job_record& job, const std::function<bool(std::string_view name)>& drop);

/// Appends "name=value" for each pair. `job` must have details.
void add_variables(job_record& job,
                   const std::vector<std::pair<std::string, std::string>>& variables);

/// Removes the variables that an earlier start by Rubato wrote for the tasks. Ignores a job without
/// details.
void clear_job_env(job_record& job);

}  // namespace rubato
