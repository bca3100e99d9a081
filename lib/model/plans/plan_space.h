// SPDX-License-Identifier: GPL-2.0-or-later
// The execution plans that a job can run at a place.
#pragma once

#include <vector>

#include "lib/model/plans/plan.h"
#include "lib/model/plans/plan_memory.h"

namespace rubato {

/// Most micro-batches of a replica that are looked at; more only take longer.
inline constexpr int kMaxPlanSteps = 128;

/// Where plans are looked for.
struct PlanSite {
  ModelShape shape;
  std::int64_t batch = 1;
  Plans plans{true, {}};
  MemoryLimits memory{};
};

/// All plans that `site.plans` allows, why_not() has nothing against, and that fit into the memory;
/// each once, in the order of ExecutionPlan.
[[nodiscard]] std::vector<ExecutionPlan> plans_at(const PlanConfiguration& configuration,
                                                  const PlanSite& site);

}  // namespace rubato
