// SPDX-License-Identifier: GPL-2.0-or-later
// Stage 4: at what size a job runs.
#pragma once

#include <optional>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/job.h"

namespace rubato {

/// How the refusal of a start at another size begins (plugin/actuate). Such a job is planned as
/// requested until it asks for something else.
inline constexpr const char* kRefusedSize = "another size:";

/// A smaller size than requested must end within the time limit with this to spare, for start and
/// checkpoints.
inline constexpr double kSmallerSlack = 1.25;

/// The job at another size than it asks for, where it is planned at one; nullopt: as requested.
[[nodiscard]] std::optional<Job> sized(const Job& job, const Config& config);

/// Numbers of GPUs at which the job might be started, ascending, with the one it asks for; that one
/// alone for most. Of a range, its ends and the powers of two between.
[[nodiscard]] std::vector<int> sizes_to_try(const Job& job);

/// The request the job is placed with: its own, brought into the ranges that placement counts on
/// (at least one node, a GPU quantum of at least one).
[[nodiscard]] Request size_of(const Job& job);

}  // namespace rubato
