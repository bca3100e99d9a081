// SPDX-License-Identifier: GPL-2.0-or-later
// Forecasts for execution plans of a job type on a GPU type, from a fit.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/hints/types.h"
#include "lib/model/plans/plan.h"
#include "lib/model/plans/plan_fit.h"
#include "lib/model/plans/plan_speed.h"

namespace rubato {

/// Input of a forecast. Memory in MiB; 0 if unknown: no limit.
struct PlanQuery {
  PlanConfiguration configuration;
  std::int64_t gpu_memory_mib = 0;   ///< of one GPU
  std::int64_t host_memory_mib = 0;  ///< of the job on one node
  std::int64_t batch = 1;            ///< global, samples an iteration
  Plans plans{true, {}};             ///< plans that the job can run
};

struct PlanForecast {
  bool feasible = false;  ///< false: no plan fits, and the other members are 0
  ExecutionPlan plan;
  double step_seconds = 0;     ///< of one iteration of the global batch, above 0
  double throughput = 0;       ///< samples/s
  double stddev = 0;           ///< standard deviation of ln(step_seconds); large if little is known
  double host_memory_mib = 0;  ///< needed by the plan on each node
  int samples = 0;             ///< reports of this plan at this configuration and batch
};

/// Immutable and thread-safe. Any query gives a finite forecast or an infeasible one.
class PlanModel {
 public:
  /// From samples of one job type on one GPU type, in any order. Impossible samples (see
  /// plan_fit.h) are ignored and counted. Without samples, forecasts follow from the shape and an
  /// average GPU with a large standard deviation: only their ratios are meaningful.
  PlanModel(const ModelShape& shape, const std::vector<PlanSample>& samples,
            const PlanEnvironment& environment = {});
  /// From a stored fit.
  PlanModel(const ModelShape& shape, PlanFit fit, const PlanEnvironment& environment = {});

  /// The fastest plan that fits; of equals, the first in plan order.
  [[nodiscard]] PlanForecast best(const PlanQuery& query) const;
  /// The forecast of one plan, for example the submitted one.
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
