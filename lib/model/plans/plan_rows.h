// SPDX-License-Identifier: GPL-2.0-or-later
// The most informative configurations of execution plans to measure (active learning).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "lib/model/plans/plan_fit.h"

namespace rubato {

/// What can be measured.
struct PlanSetting {
  ExecutionPlan plan;
  PlanConfiguration configuration;
  std::int64_t batch = 1;

  auto operator<=>(const PlanSetting&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// The candidate whose measurement would reduce the uncertainty of all most, by the covariance of
/// the terms (choose_rows.h); nullopt if all are `taken`.
[[nodiscard]] std::optional<std::size_t> most_informative_row(
    const PlanFit& fit, const PlanEnvironment& environment, const ModelShape& shape,
    const std::vector<PlanSetting>& candidates, const std::vector<bool>& taken);

/// Chooses at most `most` candidates, one by one. Each choice uses the measurements of earlier
/// ones, which `measure` reports for an index. Starts without samples.
[[nodiscard]] std::vector<std::size_t> choose_settings(
    const ModelShape& shape, const std::vector<PlanSetting>& candidates, std::size_t most,
    const std::function<PlanSample(std::size_t)>& measure, const PlanEnvironment& environment = {},
    PlanBelief belief = PlanBelief::kShapeKnown);

}  // namespace rubato
