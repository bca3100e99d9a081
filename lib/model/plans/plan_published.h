// SPDX-License-Identifier: GPL-2.0-or-later
// Family A as it was published, with its seven parameters: what the model in plan_speed.h is
// measured against, and the proof that it starts from the same ground.
#pragma once

#include <span>

#include "lib/model/plans/plan_speed.h"

namespace rubato {

/// Forward passes of a step with gradient checkpointing in the published validation (its planner
/// takes 2).
inline constexpr double kPublishedRecompute = 1.8;

/// The published family A, as the authors' code has it: `forward_ms` is measured at this place,
/// and k_swap belongs to every plan. Reads the first seven terms alone.
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

/// The published fit, by RMSLE of tail, optimiser and step from the published start and bounds.
[[nodiscard]] PlanTerms fit_published(std::span<const PublishedSample> samples,
                                      const PlanEnvironment& environment);

}  // namespace rubato
