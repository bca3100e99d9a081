// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/plans/plan_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/model/plans/plan_space.h"

namespace rubato {
namespace {

// Bounds of forecasts, seconds.
constexpr double kMinStep = 1e-9;
constexpr double kMaxStep = 1e12;

int samples_of(const PlanFit& fit, const ExecutionPlan& plan, const PlanQuery& query) {
  const auto found = std::find_if(fit.merged.begin(), fit.merged.end(), [&](const PlanSample& s) {
    return s.plan == plan && s.configuration == query.configuration && s.batch == query.batch;
  });
  return found == fit.merged.end() ? 0 : static_cast<int>(found->reports);
}

}  // namespace

PlanModel::PlanModel(const ModelShape& shape, const std::vector<PlanSample>& samples,
                     const PlanEnvironment& environment)
    : PlanModel(shape, fit_plans(shape, samples, environment), environment) {}

PlanModel::PlanModel(const ModelShape& shape, PlanFit fit, const PlanEnvironment& environment)
    : shape_(shape), environment_(environment), fit_(std::move(fit)) {}

double PlanModel::step_seconds(const PlanQuery& query, const ExecutionPlan& plan) const {
  const double ms =
      step_parts(fit_.terms, environment_, plan, query.configuration, {shape_, query.batch}).step;
  if (!std::isfinite(ms)) return kMaxStep;
  return std::clamp(ms / 1e3, kMinStep, kMaxStep);
}

PlanForecast PlanModel::best(const PlanQuery& query) const {
  const PlanSite site{
      shape_, query.batch, query.plans, {query.gpu_memory_mib, query.host_memory_mib}};
  const ExecutionPlan* best = nullptr;
  double least = 0;
  const std::vector<ExecutionPlan> plans = plans_at(query.configuration, site);
  for (const ExecutionPlan& plan : plans) {
    const double seconds = step_seconds(query, plan);
    if (best != nullptr && seconds >= least) continue;
    best = &plan;
    least = seconds;
  }
  return best != nullptr ? forecast(query, *best) : PlanForecast();
}

PlanForecast PlanModel::of_plan(const PlanQuery& query, const ExecutionPlan& plan) const {
  if (!allows(query.plans, plan) ||
      !why_not(plan, query.configuration, shape_, query.batch).empty() ||
      !fits(memory_of(plan, query.configuration, shape_, query.batch),
            {query.gpu_memory_mib, query.host_memory_mib})) {
    return {};
  }
  return forecast(query, plan);
}

PlanForecast PlanModel::forecast(const PlanQuery& query, const ExecutionPlan& plan) const {
  PlanForecast out{.feasible = true, .plan = plan, .step_seconds = step_seconds(query, plan)};
  out.throughput = static_cast<double>(query.batch) / out.step_seconds;
  out.stddev = stddev_of(fit_, environment_, plan, query.configuration, {shape_, query.batch});
  out.host_memory_mib = memory_of(plan, query.configuration, shape_, query.batch).host_mib;
  out.samples = samples_of(fit_, plan, query);
  return out;
}

}  // namespace rubato
