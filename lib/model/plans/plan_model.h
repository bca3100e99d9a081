// SPDX-License-Identifier: GPL-2.0-or-later
// What execution plans are worth to a job type on a GPU type: the fit, and forecasts from it.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/hints/types.h"
#include "lib/model/plans/plan.h"
#include "lib/model/plans/plan_fit.h"
#include "lib/model/plans/plan_speed.h"

namespace rubato {

/// What a forecast is asked for. Memory in MiB; 0 where it is not known and nothing is refused.
struct PlanQuery {
  PlanConfiguration configuration;
  std::int64_t gpu_memory_mib = 0;   ///< of one GPU
  std::int64_t host_memory_mib = 0;  ///< of the job on one node
  std::int64_t batch = 1;            ///< global, samples an iteration
  Plans plans{true, {}};             ///< those the job can run
};

struct PlanForecast {
  bool feasible = false;  ///< false: no plan fits, and the numbers are 0
  ExecutionPlan plan;
  double step_seconds = 0;  ///< of one iteration of the global batch, above 0
  double throughput = 0;    ///< samples/s
  double stddev = 0;        ///< standard deviation of ln(step_seconds); large where little is known
  double host_memory_mib = 0;  ///< needed by the plan on each node
  int samples = 0;             ///< that were measured with this plan at this place and batch
};

/// Immutable, thread-safe, total: any question has a finite answer or none that is feasible.
class PlanModel {
 public:
  /// From samples of one job type on one GPU type, in any order; those that cannot be (see
  /// plan_fit.h) are left out and counted. With none at all, forecasts follow from the shape and a
  /// GPU of middling speed and have a large spread: only their ratios mean something.
  PlanModel(const ModelShape& shape, const std::vector<PlanSample>& samples,
            const PlanEnvironment& environment = {});
  /// From a fit that was kept.
  PlanModel(const ModelShape& shape, PlanFit fit, const PlanEnvironment& environment = {});

  /// The plan with the least step time of those that fit; of equal ones the first in their order.
  [[nodiscard]] PlanForecast best(const PlanQuery& query) const;
  /// One plan, for instance the one that the job was submitted with.
  [[nodiscard]] PlanForecast of_plan(const PlanQuery& query, const ExecutionPlan& plan) const;
  /// For a plan that why_not() accepts; memory is not checked.
  [[nodiscard]] double step_seconds(const PlanQuery& query, const ExecutionPlan& plan) const;

  [[nodiscard]] const PlanFit& fit() const { return fit_; }
  [[nodiscard]] const ModelShape& shape() const { return shape_; }
  [[nodiscard]] const PlanEnvironment& environment() const { return environment_; }

 private:
  [[nodiscard]] PlanForecast forecast(const PlanQuery& query, const ExecutionPlan& plan) const;

  ModelShape shape_;
  PlanEnvironment environment_;
  PlanFit fit_;
};

}  // namespace rubato
