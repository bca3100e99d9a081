// SPDX-License-Identifier: GPL-2.0-or-later
// Execution plans for any samples and any query: finite, feasible, monotone, repeatable.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/model/plans/plan_curve.h"
#include "lib/model/plans/plan_space.h"

namespace rubato::test {
namespace {

int gen_int(int low, int high) { return *rc::gen::inRange(low, high + 1); }

ModelShape gen_shape() {
  ModelShape shape{.params = *rc::gen::element<std::int64_t>(1, 100'000'000, 7'000'000'000,
                                                             1'000'000'000'000'000)};
  if (gen_int(0, 3) > 0) {
    shape.hidden = gen_int(1, 64) * 128;
    shape.layers = gen_int(1, 48);
    shape.seq = gen_int(1, 4096);
    shape.heads = *rc::gen::element<std::int64_t>(1, 8, 16, 12);
  }
  return shape;
}

Plans gen_plans() {
  if (gen_int(0, 1) == 0) return {true, {}};
  Plans plans;
  for (int kind = 0; kind < 7; ++kind) {
    if (gen_int(0, 1) == 0) plans.kinds.insert(static_cast<PlanKind>(kind));
  }
  plans.kinds.insert(static_cast<PlanKind>(gen_int(0, 6)));
  return plans;
}

double gen_seconds() {
  if (gen_int(0, 9) > 0) return std::exp(gen_int(-6000, 6000) / 1000.0);
  return *rc::gen::element(0.0, -1.0, 1e300, 1e-300, std::nan(""),
                           std::numeric_limits<double>::infinity(), 2.5e6, 1e-6);
}

ExecutionPlan gen_plan() {
  ExecutionPlan plan{.data = gen_int(1, 8)};
  if (gen_int(0, 2) == 0) {
    plan.tensor = gen_int(1, 4);
    plan.pipeline = gen_int(1, 4);
  } else {
    plan.zero = static_cast<Zero>(gen_int(0, 2));
  }
  plan.steps = gen_int(1, 4);
  plan.checkpointing = gen_int(0, 1) == 1;
  return plan;
}

// Arbitrary samples: wrong, contradictory, enormous, repeated.
std::vector<PlanSample> gen_samples() {
  std::vector<PlanSample> out;
  const int count = gen_int(0, 12);
  for (int i = 0; i < count; ++i) {
    PlanSample s{.plan = gen_plan(), .batch = gen_int(0, 64), .step_seconds = gen_seconds()};
    s.configuration = {static_cast<int>(s.plan.gpus()), gen_int(1, 3), gen_int(0, 8)};
    if (gen_int(0, 9) == 0) s.configuration.gpus = gen_int(-2, 20);
    if (gen_int(0, 2) == 0) {
      s.forward_seconds = gen_seconds();
      s.tail_seconds = gen_seconds();
      s.optimiser_seconds = gen_seconds();
    }
    s.reports = *rc::gen::element<std::int64_t>(1, 1, 5, 0, 1'000'000'000'000'000'000);
    const int times = gen_int(0, 5) == 0 ? 20 : 1;
    for (int k = 0; k < times; ++k) out.push_back(s);
  }
  return out;
}

bool same(const PlanFit& a, const PlanFit& b) {
  return a.terms == b.terms && a.covariance == b.covariance && a.rmsle == b.rmsle &&
         a.flags == b.flags && a.merged == b.merged;
}

RC_GTEST_PROP(PlanProperty, fits_of_any_samples_are_finite_and_inside_the_bounds, ()) {
  const ModelShape shape = gen_shape();
  std::vector<PlanSample> samples = gen_samples();
  const PlanFit fit = fit_plans(shape, samples);
  for (const double term : fit.terms) RC_ASSERT(std::isfinite(term) && term > 0);
  for (const double value : fit.covariance) RC_ASSERT(std::isfinite(value));
  RC_ASSERT(fit.terms[0] >= 1 && fit.terms[0] <= 10);
  RC_ASSERT(fit.terms[1] >= 1);
  RC_ASSERT(std::isfinite(fit.rmsle) && fit.rmsle >= 0);
  RC_ASSERT(fit.used + fit.left_out == static_cast<std::int64_t>(samples.size()));
  RC_ASSERT(fit.flags.nothing == (fit.used == 0));
  std::reverse(samples.begin(), samples.end());
  RC_ASSERT(same(fit, fit_plans(shape, samples)));
}

RC_GTEST_PROP(PlanProperty, forecasts_are_finite_and_feasible, ()) {
  const PlanModel model(gen_shape(), gen_samples());
  PlanQuery query{.configuration = {gen_int(-1, 16), gen_int(-1, 4), gen_int(-1, 8)},
                  .gpu_memory_mib = *rc::gen::element<std::int64_t>(0, 1, 16384, 81920),
                  .host_memory_mib = *rc::gen::element<std::int64_t>(0, 1, 65536),
                  .batch = gen_int(-1, 64),
                  .plans = gen_plans()};
  const PlanForecast best = model.best(query);
  const PlanForecast again = model.best(query);
  RC_ASSERT(best.plan == again.plan && best.step_seconds == again.step_seconds &&
            best.stddev == again.stddev);
  if (!best.feasible) {
    RC_ASSERT(best.step_seconds == 0 && best.throughput == 0);
    return;
  }
  RC_ASSERT(std::isfinite(best.step_seconds) && best.step_seconds > 0);
  RC_ASSERT(std::isfinite(best.throughput) && best.throughput > 0);
  RC_ASSERT(std::isfinite(best.stddev) && best.stddev > 0);
  RC_ASSERT(why_not(best.plan, query.configuration, model.shape(), query.batch).empty());
  RC_ASSERT(allows(query.plans, best.plan));
  const PlanSite site{
      model.shape(), query.batch, query.plans, {query.gpu_memory_mib, query.host_memory_mib}};
  for (const ExecutionPlan& plan : plans_at(query.configuration, site)) {
    const PlanForecast other = model.of_plan(query, plan);
    RC_ASSERT(other.feasible);
    RC_ASSERT(other.step_seconds >= best.step_seconds);
    const auto read = parse_execution_plan(to_text(plan));
    RC_ASSERT(read.has_value() && *read == plan);
  }
}

// A forecast never differs from the measurements by more than the work could shrink or grow.
RC_GTEST_PROP(PlanProperty, no_wild_extrapolation, ()) {
  const ModelShape shape{.params = 300'000'000};
  const double seconds = std::exp(gen_int(-4000, 4000) / 1000.0);
  std::vector<PlanSample> samples;
  for (int i = gen_int(1, 4); i > 0; --i) {
    samples.push_back({.plan = {.data = 4},
                       .configuration = {4, 1, 4},
                       .batch = 64,
                       .step_seconds = seconds * gen_int(80, 120) / 100});
  }
  const PlanModel model(shape, samples);
  for (const int gpus : {1, 2, 8, 16, 64}) {
    const PlanForecast at = model.of_plan(
        {.configuration = {gpus, gpus > 8 ? gpus / 8 : 1, 4}, .batch = 64}, {.data = gpus});
    RC_ASSERT(at.feasible);
    RC_ASSERT(at.step_seconds > seconds / 100);
    RC_ASSERT(at.step_seconds < seconds * 1000);
  }
}

RC_GTEST_PROP(PlanProperty, curves_never_fall_and_use_no_more_than_was_granted, ()) {
  const auto model = std::make_shared<const PlanModel>(gen_shape(), gen_samples());
  const CurveQuestion question{
      .batch = gen_int(1, 64),
      .plans = gen_plans(),
      .gpu_memory_mib = *rc::gen::element<std::int64_t>(0, 16384, 81920),
      .host_memory_mib_per_gpu = *rc::gen::element<std::int64_t>(0, 4096, 65536)};
  const PlanCurve curve(model, question);
  for (int nodes = 1; nodes <= 2; ++nodes) {
    for (int cores = 1; cores <= 2; ++cores) {
      double before = 0;
      for (int gpus = nodes; gpus <= 10; ++gpus) {
        const PlanCurvePoint point = curve.at({gpus, nodes, cores});
        RC_ASSERT(point.feasible == (point.throughput > 0));
        RC_ASSERT(std::isfinite(point.throughput) && point.throughput >= before);
        const bool uses_all =
            point.feasible && point.effective == PlanConfiguration{gpus, nodes, cores};
        RC_ASSERT(!uses_all || point.throughput >= 1.01 * before);
        before = point.throughput;
        if (!point.feasible) continue;
        RC_ASSERT(point.effective.gpus <= gpus && point.effective.nodes <= nodes &&
                  point.effective.cores_per_gpu <= cores);
        RC_ASSERT(point.plan.gpus() == point.effective.gpus);
        RC_ASSERT(curve.at({gpus, nodes, cores + 1}).throughput >= point.throughput);
      }
    }
  }
}

}  // namespace
}  // namespace rubato::test
