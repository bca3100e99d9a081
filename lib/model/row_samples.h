// SPDX-License-Identifier: GPL-2.0-or-later
// Converts measured rows to samples of the step-time models.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/model/data_parallel/data_parallel.h"
#include "lib/model/plans/plan_fit.h"
#include "lib/model/predictor.h"
#include "lib/model/step_time/step_time.h"

namespace rubato::rows {

/// Sorted by row_before().
using Rows = std::span<const MeasuredRow>;

/// Rows of a profile on a GPU type.
[[nodiscard]] Rows rows_of(Rows rows, const ProfileName& profile, const std::string& gpu_type);
/// The row with the most reports: the usual configuration of the profile. `rows` must not be empty.
[[nodiscard]] const MeasuredRow& usual(Rows rows);
/// Fills in missing node counts: nodes as full as any measured.
[[nodiscard]] Resources placed(Rows rows, Resources at);
/// Gradient noise scale of the profile: the median of rows that report it.
[[nodiscard]] std::optional<double> noise_among(Rows rows);
/// The rows of a profile on all GPU types.
[[nodiscard]] Rows rows_of(Rows rows, const ProfileName& profile);
/// True if some row has parameter servers.
[[nodiscard]] bool has_servers(Rows rows);
/// Largest measured batch per GPU.
[[nodiscard]] std::int64_t max_local_seen(Rows rows);

[[nodiscard]] std::vector<PlanSample> plan_samples(Rows rows);
[[nodiscard]] std::vector<DataParallelSample> data_parallel_samples(Rows rows);
[[nodiscard]] std::vector<StepSample> step_samples(Rows rows);
/// The usual row's shape with other resources: servers and cores in proportion.
[[nodiscard]] StepShape shape_at(const MeasuredRow& usual, const Resources& at);

}  // namespace rubato::rows
