// SPDX-License-Identifier: GPL-2.0-or-later
// Environment variables in a job's record (details->env_sup), which batch scripts, salloc and srun
// receive. Needs LockKind::kAct.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct job_record;

namespace rubato {

/// Removes the variables whose name `drop` accepts. `job` must have details.
void drop_variables(job_record& job, bool (*drop)(std::string_view name)) noexcept;

/// "name=value" of each pair.
[[nodiscard]] std::vector<std::string> entries_of(
    const std::vector<std::pair<std::string, std::string>>& variables);

/// Appends entries "name=value". `job` must have details. Only Slurm's own memory is used, so that
/// a change of a record that was prepared cannot fail halfway.
void add_entries(job_record& job, const std::vector<std::string>& entries) noexcept;

/// Removes the variables that an earlier start by Rubato wrote for the tasks. Ignores a job without
/// details.
void clear_job_env(job_record& job) noexcept;

}  // namespace rubato
