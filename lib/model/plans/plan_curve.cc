// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/plans/plan_curve.h"

#include <algorithm>
#include <utility>

#include "lib/model/plans/plan_space.h"

namespace rubato {
namespace {

// A throughput that is lower only by rounding counts as equal.
constexpr double kAsGood = 1 - 1e-9;

PlanConfiguration nearest_configuration(const PlanConfiguration& configuration) {
  PlanConfiguration out;
  out.gpus = std::clamp(configuration.gpus, 1, kMaxCurveGpus);
  out.nodes = std::clamp(configuration.nodes, 1, out.gpus);
  out.cores_per_gpu = std::clamp(configuration.cores_per_gpu, 1, kMaxCurveCores);
  return out;
}

// `less` is at least as fast as `best`, or equally fast by an earlier plan.
bool better(const PlanCurvePoint& less, const PlanCurvePoint& best) {
  if (!less.feasible) return false;
  if (!best.feasible || less.throughput != best.throughput)
    return !best.feasible || less.throughput > best.throughput;
  return std::tie(less.effective, less.plan) < std::tie(best.effective, best.plan);
}

}  // namespace

PlanCurve::PlanCurve(std::shared_ptr<const PlanModel> model, CurveQuestion question)
    : model_(std::move(model)), question_(std::move(question)) {}

PlanQuery PlanCurve::query_at(const PlanConfiguration& configuration) const {
  return {.configuration = configuration,
          .gpu_memory_mib = question_.gpu_memory_mib,
          .host_memory_mib = question_.host_memory_mib_per_gpu * configuration.max_per_node(),
          .batch = question_.batch,
          .plans = question_.plans};
}

const PlanCurve::Best& PlanCurve::best_at(int gpus, int nodes) const {
  const auto [at, fresh] = best_.try_emplace({gpus, nodes});
  Best& best = at->second;
  if (!fresh) return best;
  const PlanConfiguration configuration{gpus, nodes, 1};
  const PlanQuery query = query_at(configuration);
  const PlanSite site{
      model_->shape(), query.batch, query.plans, {query.gpu_memory_mib, query.host_memory_mib}};
  for (const ExecutionPlan& plan : plans_at(configuration, site)) {
    if (plan.zero == Zero::kOffload) {
      best.offload.push_back(plan);
      continue;
    }
    const double throughput = static_cast<double>(query.batch) / model_->step_seconds(query, plan);
    if (!best.others.feasible || throughput > best.others.throughput)
      best.others = {true, plan, throughput, configuration};
  }
  return best;
}

PlanCurvePoint PlanCurve::raw(const PlanConfiguration& configuration) const {
  const Best& best = best_at(configuration.gpus, configuration.nodes);
  PlanCurvePoint out = best.others;
  const PlanQuery query = query_at(configuration);
  for (const ExecutionPlan& plan : best.offload) {
    const double throughput = static_cast<double>(query.batch) / model_->step_seconds(query, plan);
    const PlanCurvePoint offload{true, plan, throughput, configuration};
    if (!out.feasible || throughput > out.throughput) out = offload;
  }
  return out;
}

PlanCurvePoint PlanCurve::envelope(const PlanConfiguration& configuration) const {
  const Key key{configuration.gpus, configuration.nodes, configuration.cores_per_gpu};
  if (const auto known = points_.find(key); known != points_.end()) return known->second;
  PlanCurvePoint less;
  const auto consider = [&](const PlanConfiguration& smaller) {
    const PlanCurvePoint point = envelope(smaller);
    if (better(point, less)) less = point;
  };
  if (configuration.gpus > configuration.nodes) {
    consider({configuration.gpus - 1, configuration.nodes, configuration.cores_per_gpu});
  }
  if (configuration.cores_per_gpu > 1)
    consider({configuration.gpus, configuration.nodes, configuration.cores_per_gpu - 1});
  if (configuration.nodes > 1) {
    // One node less, with the minimum of GPUs on each node.
    consider({configuration.min_per_node() * (configuration.nodes - 1), configuration.nodes - 1,
              configuration.cores_per_gpu});
  }
  const PlanCurvePoint own = raw(configuration);
  const bool gains =
      own.feasible && (!less.feasible || own.throughput >= kCurveGain * less.throughput);
  return points_[key] = gains ? own : less;
}

PlanCurvePoint PlanCurve::at(const PlanConfiguration& granted) const {
  const std::lock_guard lock(mutex_);
  return envelope(nearest_configuration(granted));
}

double PlanCurve::throughput_of(const ExecutionPlan& plan,
                                const PlanConfiguration& configuration) const {
  return model_->of_plan(query_at(configuration), plan).throughput;
}

std::optional<PlanCurvePoint> PlanCurve::least(const ExecutionPlan& plan,
                                               const PlanConfiguration& configuration) const {
  const double wanted = throughput_of(plan, configuration);
  if (!(wanted > 0)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const std::int64_t cores = std::int64_t{1} * configuration.gpus * configuration.cores_per_gpu;
  for (int gpus = 1; gpus <= std::min(configuration.gpus, kMaxCurveGpus); ++gpus) {
    const int max_cores = static_cast<int>(std::min<std::int64_t>(cores / gpus, kMaxCurveCores));
    for (int nodes = 1; nodes <= std::min(gpus, configuration.nodes); ++nodes) {
      // Skips configurations with more GPUs per node than the request: they might not fit.
      if (PlanConfiguration{gpus, nodes, 1}.max_per_node() > configuration.max_per_node()) continue;
      if (raw({gpus, nodes, max_cores}).throughput < wanted * kAsGood) continue;
      int enough = 1;
      while (raw({gpus, nodes, enough}).throughput < wanted * kAsGood) ++enough;
      return raw({gpus, nodes, enough});
    }
  }
  // Beyond the search limits: the plan itself.
  return PlanCurvePoint{true, plan, wanted, configuration};
}

}  // namespace rubato
