// SPDX-License-Identifier: GPL-2.0-or-later
// The execution plans that a job can run at a configuration.
#pragma once

#include <vector>

#include "lib/model/plans/plan.h"
#include "lib/model/plans/plan_memory.h"

namespace rubato {

/// Maximum number of micro-batches per replica to try; more only take longer.
inline constexpr int kMaxPlanSteps = 128;

/// Limits of the search.
struct PlanSite {
  ModelShape shape;
  std::int64_t batch = 1;
  Plans plans{true, {}};
  MemoryLimits memory{};
};

/// All plans that `site.plans` and why_not() allow and that fit the memory; each once, in the order
/// of ExecutionPlan.
[[nodiscard]] std::vector<ExecutionPlan> plans_at(const PlanConfiguration& configuration,
                                                  const PlanSite& site);

}  // namespace rubato
