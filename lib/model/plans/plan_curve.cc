// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/plans/plan_curve.h"

#include <algorithm>
#include <utility>

#include "lib/model/plans/plan_space.h"

namespace rubato {
namespace {

// A rate that rounding alone makes smaller is as good.
constexpr double kAsGood = 1 - 1e-9;

PlanPlace nearest_place(const PlanPlace& place) {
  PlanPlace out;
  out.gpus = std::clamp(place.gpus, 1, kMostCurveGpus);
  out.nodes = std::clamp(place.nodes, 1, out.gpus);
  out.cores_per_gpu = std::clamp(place.cores_per_gpu, 1, kMostCurveCores);
  return out;
}

// `less` is as fast as `best` or faster by a plan that comes first.
bool better(const PlanCurvePoint& less, const PlanCurvePoint& best) {
  if (!less.feasible) return false;
  if (!best.feasible || less.rate != best.rate) return !best.feasible || less.rate > best.rate;
  return std::tie(less.effective, less.plan) < std::tie(best.effective, best.plan);
}

}  // namespace

PlanCurve::PlanCurve(std::shared_ptr<const PlanModel> model, CurveQuestion question)
    : model_(std::move(model)), question_(std::move(question)) {}

PlanQuery PlanCurve::query_at(const PlanPlace& place) const {
  return {.place = place,
          .gpu_memory_mib = question_.gpu_memory_mib,
          .host_memory_mib = question_.host_memory_mib_per_gpu * place.most_on_a_node(),
          .batch = question_.batch,
          .plans = question_.plans};
}

const PlanCurve::Best& PlanCurve::best_at(int gpus, int nodes) const {
  const auto [at, fresh] = best_.try_emplace({gpus, nodes});
  Best& best = at->second;
  if (!fresh) return best;
  const PlanPlace place{gpus, nodes, 1};
  const PlanQuery query = query_at(place);
  const PlanSite site{
      model_->shape(), query.batch, query.plans, {query.gpu_memory_mib, query.host_memory_mib}};
  for (const ExecutionPlan& plan : plans_at(place, site)) {
    if (plan.zero == Zero::kOffload) {
      best.offload.push_back(plan);
      continue;
    }
    const double rate = static_cast<double>(query.batch) / model_->step_seconds(query, plan);
    if (!best.others.feasible || rate > best.others.rate) best.others = {true, plan, rate, place};
  }
  return best;
}

PlanCurvePoint PlanCurve::raw(const PlanPlace& place) const {
  const Best& best = best_at(place.gpus, place.nodes);
  PlanCurvePoint out = best.others;
  const PlanQuery query = query_at(place);
  for (const ExecutionPlan& plan : best.offload) {
    const double rate = static_cast<double>(query.batch) / model_->step_seconds(query, plan);
    const PlanCurvePoint offload{true, plan, rate, place};
    if (!out.feasible || rate > out.rate) out = offload;
  }
  return out;
}

PlanCurvePoint PlanCurve::envelope(const PlanPlace& place) const {
  const Key key{place.gpus, place.nodes, place.cores_per_gpu};
  if (const auto known = points_.find(key); known != points_.end()) return known->second;
  PlanCurvePoint less;
  const auto consider = [&](const PlanPlace& smaller) {
    const PlanCurvePoint point = envelope(smaller);
    if (better(point, less)) less = point;
  };
  if (place.gpus > place.nodes) {
    consider({place.gpus - 1, place.nodes, place.cores_per_gpu});
  }
  if (place.cores_per_gpu > 1) consider({place.gpus, place.nodes, place.cores_per_gpu - 1});
  if (place.nodes > 1) {
    // All but one of the nodes, with what stands on each at least.
    consider({place.least_on_a_node() * (place.nodes - 1), place.nodes - 1, place.cores_per_gpu});
  }
  const PlanCurvePoint own = raw(place);
  const bool gains = own.feasible && (!less.feasible || own.rate >= kCurveGain * less.rate);
  return points_[key] = gains ? own : less;
}

PlanCurvePoint PlanCurve::at(const PlanPlace& granted) const {
  const std::lock_guard lock(mutex_);
  return envelope(nearest_place(granted));
}

double PlanCurve::rate_of(const ExecutionPlan& plan, const PlanPlace& place) const {
  return model_->of_plan(query_at(place), plan).rate;
}

std::optional<PlanCurvePoint> PlanCurve::least(const ExecutionPlan& plan,
                                               const PlanPlace& place) const {
  const double wanted = rate_of(plan, place);
  if (!(wanted > 0)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const std::int64_t cores = std::int64_t{1} * place.gpus * place.cores_per_gpu;
  for (int gpus = 1; gpus <= std::min(place.gpus, kMostCurveGpus); ++gpus) {
    const int most_cores = static_cast<int>(std::min<std::int64_t>(cores / gpus, kMostCurveCores));
    for (int nodes = 1; nodes <= std::min(gpus, place.nodes); ++nodes) {
      // Never more on a node than the request has there: it might not fit on one.
      if (PlanPlace{gpus, nodes, 1}.most_on_a_node() > place.most_on_a_node()) continue;
      if (raw({gpus, nodes, most_cores}).rate < wanted * kAsGood) continue;
      int enough = 1;
      while (raw({gpus, nodes, enough}).rate < wanted * kAsGood) ++enough;
      return raw({gpus, nodes, enough});
    }
  }
  // Beyond what is looked at: the plan itself.
  return PlanCurvePoint{true, plan, wanted, place};
}

}  // namespace rubato
