// SPDX-License-Identifier: GPL-2.0-or-later
// The SPANK plugin in each kind of process that loads it; one file per context.
#pragma once

#include "plugin/spank/spank_header.h"

#include <string>
#include <string_view>
#include <vector>

namespace rubato {

/// Arguments after the file in plugstack.conf: KEY=VALUE.
using PluginArguments = std::vector<std::string_view>;

/// For clusters without Rubato: the options are accepted and do nothing.
inline constexpr std::string_view kIgnoreHints = "hints=ignore";
[[nodiscard]] bool ignores_hints(const PluginArguments& arguments);

/// sbatch and salloc: every call submits a job.
void allocator_init(spank_t spank);
void allocator_options_done(spank_t spank);

/// srun: submits a job, or starts a step in one.
void local_init(spank_t spank);
void local_options_done(spank_t spank);

/// slurmstepd: the batch script or a step on one node.
void remote_init(spank_t spank, const PluginArguments& arguments);
/// Says in the job's standard error why the last line of its report file is not a report.
void remote_task_exit(spank_t spank);
void remote_exit();

}  // namespace rubato
