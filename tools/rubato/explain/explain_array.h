// SPDX-License-Identifier: GPL-2.0-or-later
// The tasks of an array in a few lines: how many run, wait and have ended.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/rubato/explain/explain_view.h"
#include "tools/shared/job_match.h"

namespace rubato::tools {

/// Number of tasks by state, in lower case as "running".
using TaskCounts = std::map<std::string, int>;

/// `entries` are all those of one array.
[[nodiscard]] bool is_array(const JobSelector& selector, const std::vector<PlanEntry>& entries);

/// From squeue; if it cannot be asked, from `entries`, whose pending tasks are those that may start
/// now.
[[nodiscard]] TaskCounts count_tasks(const JobSelector& selector,
                                     const std::vector<PlanEntry>& entries);

/// "Array 12 (sweep) of ann, partition gpu" and "9 running, 7 pending".
[[nodiscard]] std::string array_text(const JobSelector& selector,
                                     const std::vector<PlanEntry>& entries,
                                     const TaskCounts& counts, bool color);

/// A line for each running task, at most kTasksShown.
inline constexpr std::size_t kTasksShown = 8;
[[nodiscard]] std::string running_tasks_text(const std::vector<PlanEntry>& entries,
                                             const Snapshot& snapshot);

}  // namespace rubato::tools
