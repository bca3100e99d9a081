// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/adaptive_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <vector>

#include "lib/model/numeric/bounded_fit.h"

namespace rubato::sim {
namespace {

constexpr double kMin = 1e-8;
constexpr double kMax = 1e4;
constexpr double kRounding = 1e-8;
constexpr int kTried = 50;
constexpr int kEvaluations = 4000;

using Values = std::array<double*, 7>;

Values members(AdaptiveModel& m) {
  return {&m.fixed, &m.each, &m.far, &m.far_growth, &m.near, &m.near_growth, &m.overlap};
}

double objective(const AdaptiveModel& m, const AdaptivePoints& points) {
  double pass = 0;
  double step = 0;
  for (const auto& [key, seconds] : points) {
    const auto& [nodes, gpus, local] = key;
    const auto batch = static_cast<double>(local);
    const double a = std::log(m.pass(batch) / (seconds.step - seconds.sync));
    const double b = std::log(m.step(nodes, gpus, batch) / seconds.step);
    pass += a * a;
    step += b * b;
  }
  const auto n = static_cast<double>(points.size());
  const double bend = m.overlap - 1;
  const double far = m.far_growth / m.far;
  const double near = m.near_growth / m.near;
  return std::sqrt(pass / n) + std::sqrt(step / n) + 1e-3 * bend * bend +
         1e-2 * (far * far + near * near);
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

AdaptiveModel fit_adaptive(const AdaptivePoints& points) {
  const Seen seen(points);
  AdaptiveModel model;
  std::array<bool, 7> free{};
  free.fill(true);
  const auto fix = [&](std::size_t which, double value) {
    free[which] = false;
    *members(model)[which] = value;
  };
  if (seen.batches.size() == 1) fix(0, seen.pass / 2);
  if (!seen.far) fix(2, kMin);
  if (!seen.far || !seen.growth) fix(3, kMin);
  if (!seen.near) fix(4, kMin);
  if (!seen.near || !seen.growth) fix(5, kMin);
  std::vector<FitParameter> parameters;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < free.size(); ++i) {
    if (!free[i]) continue;
    const bool bend = i + 1 == free.size();
    parameters.push_back({*members(model)[i], bend ? 1 : kMin, bend ? 10 : kMax, !bend});
    which.push_back(i);
  }
  const auto with = [&](std::span<const double> values) {
    AdaptiveModel out = model;
    for (std::size_t i = 0; i < which.size(); ++i) *members(out)[which[i]] = values[i];
    return out;
  };
  const FitResult fit = minimise(
      parameters, [&](std::span<const double> values) { return objective(with(values), points); },
      kEvaluations);
  model = with(fit.values);
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
