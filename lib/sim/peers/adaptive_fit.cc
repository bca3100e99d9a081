// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/adaptive_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include "lib/sim/peers/quasi_newton.h"

namespace rubato::sim {
namespace {

constexpr double kMin = 1e-8;
constexpr double kRounding = 1e-8;
constexpr int kTried = 50;

using Values = std::array<double*, 7>;

Values members(AdaptiveModel& m) {
  return {&m.fixed, &m.each, &m.far, &m.far_growth, &m.near, &m.near_growth, &m.overlap};
}

/// The objective of the artifacts' fits, and its gradient in the order of members().
double objective(const AdaptiveModel& m, const AdaptivePoints& points, std::span<double> gradient) {
  std::array<double, 7> pass_slopes{};
  std::array<double, 7> step_slopes{};
  double pass_sum = 0;
  double step_sum = 0;
  for (const auto& [key, seconds] : points) {
    const auto& [nodes, gpus, local] = key;
    const auto batch = static_cast<double>(local);
    const double more = std::max(gpus - 2.0, kMin);
    const double pass = m.pass(batch);
    const double exchange = m.exchange(nodes, gpus);
    const double pass_off = std::log(pass) - std::log(seconds.step - seconds.sync);
    const double bent_pass = std::pow(pass, m.overlap);
    const double bent_exchange = std::pow(exchange, m.overlap);
    const double sum = bent_pass + bent_exchange;
    const double step_off = std::log(sum) / m.overlap - std::log(seconds.step);
    pass_sum += pass_off * pass_off;
    step_sum += step_off * step_off;
    pass_slopes[0] += pass_off / pass;
    pass_slopes[1] += pass_off * batch / pass;
    step_slopes[0] += step_off * bent_pass / pass / sum;
    step_slopes[1] += step_off * bent_pass / pass / sum * batch;
    const double by_exchange = step_off * bent_exchange / exchange / sum;
    if (gpus > 1) {
      const std::size_t which = nodes > 1 ? 2 : 4;
      step_slopes[which] += by_exchange;
      step_slopes[which + 1] += by_exchange * more;
    }
    step_slopes[6] += step_off *
                      ((bent_pass * std::log(pass) + bent_exchange * std::log(exchange)) / sum -
                       std::log(sum) / m.overlap) /
                      m.overlap;
  }
  const auto n = static_cast<double>(points.size());
  const double pass_error = std::sqrt(pass_sum / n);
  const double step_error = std::sqrt(step_sum / n);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = (pass_error > 0 ? pass_slopes[i] / (n * pass_error) : 0) +
                  (step_error > 0 ? step_slopes[i] / (n * step_error) : 0);
  }
  const double bend = m.overlap - 1;
  const double far = m.far_growth / m.far;
  const double near = m.near_growth / m.near;
  gradient[2] -= 2e-2 * far * far / m.far;
  gradient[3] += 2e-2 * far / m.far;
  gradient[4] -= 2e-2 * near * near / m.near;
  gradient[5] += 2e-2 * near / m.near;
  gradient[6] += 2e-3 * bend;
  return pass_error + step_error + 1e-3 * bend * bend + 1e-2 * (far * far + near * near);
}

/// The range of the measurements.
struct Seen {
  std::set<std::int64_t> batches;
  bool far = false;
  bool near = false;
  bool growth = false;
  double pass = 0;  ///< mean

  explicit Seen(const AdaptivePoints& points) {
    for (const auto& [key, seconds] : points) {
      const auto& [nodes, gpus, local] = key;
      batches.insert(local);
      far = far || nodes > 1;
      near = near || (nodes == 1 && gpus > 1);
      growth = growth || gpus > 2;
      pass += (seconds.step - seconds.sync) / static_cast<double>(points.size());
    }
  }
};

}  // namespace

double AdaptiveModel::exchange(int nodes, int gpus) const {
  const double more = std::max(gpus - 2.0, kMin);
  if (nodes > 1) return far + far_growth * more;
  if (gpus > 1) return near + near_growth * more;
  return kMin;
}

double AdaptiveModel::step(int nodes, int gpus, double local) const {
  return std::pow(std::pow(pass(local), overlap) + std::pow(exchange(nodes, gpus), overlap),
                  1 / overlap);
}

AdaptiveModel fit_adaptive(const AdaptivePoints& points, double reduction) {
  const Seen seen(points);
  AdaptiveModel model;
  std::array<BoundedVariable, 7> variables;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const bool bend = i + 1 == variables.size();
    variables[i] = {*members(model)[i], bend ? 1 : kMin,
                    bend ? 10 : std::numeric_limits<double>::infinity()};
  }
  const auto fix = [&](std::size_t which, double value) {
    variables[which] = {value, value, value};
  };
  if (seen.batches.size() == 1) fix(0, seen.pass / 2);
  if (!seen.far) fix(2, kMin);
  if (!seen.far || !seen.growth) fix(3, kMin);
  if (!seen.near) fix(4, kMin);
  if (!seen.near || !seen.growth) fix(5, kMin);
  const auto with = [](std::span<const double> values) {
    AdaptiveModel out;
    for (std::size_t i = 0; i < values.size(); ++i) *members(out)[i] = values[i];
    return out;
  };
  model = with(quasi_newton(variables,
                            [&](std::span<const double> at, std::span<double> gradient) {
                              return objective(with(at), points, gradient);
                            },
                            {.reduction = reduction}));
  if (!seen.far) {
    model.far = std::max(model.far, 1.1 * model.near);
    model.far_growth = std::max(model.far_growth, 1.1 * model.near_growth);
  }
  return model;
}

BestSplit best_split(const AdaptiveModel& model, const GradientStats& gradient, int nodes, int gpus,
                     const BatchBounds& bounds) {
  BestSplit best;
  const double begin = std::max(bounds.first, static_cast<double>(bounds.min_local) * gpus);
  const double ratio = bounds.most / begin;
  const double exchange = model.exchange(nodes, gpus);
  const double bent = std::pow(exchange, model.overlap);
  for (int i = 0; i < kTried; ++i) {
    const double batch =
        i + 1 == kTried ? bounds.most : begin * std::pow(ratio, i / (kTried - 1.0));
    const double each = batch / gpus;
    auto passes = static_cast<std::int64_t>(
                      std::ceil(each / static_cast<double>(bounds.max_local) - kRounding)) -
                  1;
    if (gpus == 1 && each > bounds.first + kRounding) passes = std::max<std::int64_t>(passes, 1);
    passes = std::max<std::int64_t>(passes, 0);
    const auto local =
        static_cast<std::int64_t>(std::ceil(each / static_cast<double>(passes + 1) - kRounding));
    if (local < bounds.min_local || local > bounds.max_local) continue;
    const double pass = model.pass(static_cast<double>(local));
    const double seconds = static_cast<double>(passes) * pass +
                           std::pow(std::pow(pass, model.overlap) + bent, 1 / model.overlap);
    const auto global = static_cast<double>(gpus * local * (passes + 1));
    const double scale = global / bounds.first;
    const double efficiency =
        (gradient.var + gradient.sqr) / (gradient.var / scale + gradient.sqr) / scale;
    const double goodput = global / seconds * efficiency;
    if (goodput > best.goodput) best = {{local, passes}, goodput};
  }
  return best;
}

}  // namespace rubato::sim
