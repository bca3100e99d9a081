// SPDX-License-Identifier: GPL-2.0-or-later
// The published family A with its seven parameters: the reference for the model in plan_speed.h,
// and the check that both start equal.
#pragma once

#include <span>

#include "lib/model/plans/plan_speed.h"

namespace rubato {

/// Forward passes of a step with gradient checkpointing in the published validation (its planner
/// uses 2).
inline constexpr double kPublishedRecompute = 1.8;

/// The published family A, as in the authors' code: `forward_ms` is measured at this configuration,
/// and every plan has k_swap. Uses only the first seven terms.
[[nodiscard]] StepParts published_parts(const PlanTerms& terms, const PlanEnvironment& environment,
                                        const ExecutionPlan& plan, int cores_per_gpu,
                                        double params_mi, double forward_ms);

/// A sample of the published family A; times in ms.
struct PublishedSample {
  ExecutionPlan plan;
  int cores_per_gpu = 1;
  double params_mi = 0;
  double forward_ms = 0;
  double tail_ms = 0;
  double optimiser_ms = 0;
  double step_ms = 0;
};

/// The published fit: RMSLE of tail, optimiser and step, with the published start and bounds.
[[nodiscard]] PlanTerms fit_published(std::span<const PublishedSample> samples,
                                      const PlanEnvironment& environment);

}  // namespace rubato
