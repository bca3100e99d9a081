// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/numeric/core_efficiency.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "lib/model/numeric/bounded_fit.h"

namespace rubato {
namespace {

constexpr double kMinShare = 1e-3;
constexpr double kEnough = 0.99;
// Range of the curve: E(0) may be below 0 (one of many cores achieves little), E(1) never.
constexpr double kMinAlpha = 1e-6;
constexpr double kMaxAlpha = 5;
constexpr double kMinK = 0.02;
constexpr double kMaxK = 20;
constexpr double kMaxCores = 1e6;
constexpr double kMaxSpeed = 1e15;
constexpr double kPull = 1e-3;  // weight of the usual curve; each sample has weight 1

double square(double x) { return x * x; }

bool usable(const CoreSample& sample) {
  return std::isfinite(sample.cores) && sample.cores > 0 && sample.cores <= kMaxCores &&
         std::isfinite(sample.speed) && sample.speed > 1 / kMaxSpeed && sample.speed < kMaxSpeed;
}

// Mean of ln speed per number of cores.
std::map<double, double> joined(std::vector<CoreSample> samples) {
  std::sort(samples.begin(), samples.end(), [](const CoreSample& a, const CoreSample& b) {
    return std::pair(a.cores, a.speed) < std::pair(b.cores, b.speed);
  });
  std::map<double, std::pair<double, double>> sums;
  for (const CoreSample& sample : samples) {
    auto& [sum, count] = sums[sample.cores];
    sum += std::log(sample.speed);
    ++count;
  }
  std::map<double, double> means;
  for (const auto& [cores, sum] : sums) means[cores] = sum.first / sum.second;
  return means;
}

// For a given shape the best ln d is the mean difference, so only alpha and k are searched.
double level_of(const CoreCurve& shape, const std::map<double, double>& means) {
  double sum = 0;
  for (const auto& [cores, log_speed] : means) sum += log_speed - std::log(shape.speed(cores));
  return sum / static_cast<double>(means.size());
}

double squares_of(const CoreCurve& shape, const std::map<double, double>& means) {
  const double level = level_of(shape, means);
  double sum = 0;
  for (const auto& [cores, log_speed] : means)
    sum += square(std::log(shape.speed(cores)) + level - log_speed);
  return sum;
}

}  // namespace

double CoreCurve::speed(double cores) const {
  const double level = std::isfinite(d) && d > 0 ? d : 1;
  if (!std::isfinite(cores) || cores <= 0) return level;
  const double value = std::min(alpha, 0.0) * std::exp(-std::max(k, 0.0) * cores) + level;
  return std::isfinite(value) ? std::max(value, kMinShare * level) : level;
}

int CoreCurve::enough(int most) const {
  const double best = speed(std::max(most, 1));
  for (int cores = 1; cores < most; ++cores)
    if (speed(cores) >= kEnough * best) return cores;
  return std::max(most, 1);
}

CoreCurve usual_worker_curve() { return {.alpha = -1.15, .k = 0.95, .d = 1}; }

CoreCurve usual_server_curve() { return {.alpha = -0.9, .k = 2.5, .d = 1}; }

CoreFit fit_core_curve(std::vector<CoreSample> samples, const CoreCurve& usual) {
  CoreFit fit{.curve = usual};
  const std::size_t given = samples.size();
  std::erase_if(samples, [](const CoreSample& sample) { return !usable(sample); });
  fit.dropped = static_cast<int>(given - samples.size());
  const std::map<double, double> means = joined(std::move(samples));
  if (means.empty()) return fit;
  if (means.size() >= 2) {
    const double level = usual.d > 0 ? usual.d : 1;
    const double usual_alpha = std::clamp(-usual.alpha / level, kMinAlpha, kMaxAlpha);
    const double usual_k = std::clamp(usual.k, kMinK, kMaxK);
    const std::vector<FitParameter> parameters{{usual_alpha, kMinAlpha, kMaxAlpha, true},
                                               {usual_k, kMinK, kMaxK, true}};
    const FitResult found = minimise(parameters, [&](std::span<const double> p) {
      const CoreCurve shape{-p[0], p[1], 1};
      return squares_of(shape, means) +
             kPull * (square(std::log(p[0] / usual_alpha)) + square(std::log(p[1] / usual_k)));
    });
    fit.curve = {-found.values[0], found.values[1], 1};
    fit.fitted = true;
  } else {
    fit.curve = {usual.alpha / (usual.d > 0 ? usual.d : 1), usual.k, 1};
  }
  fit.error = std::sqrt(squares_of(fit.curve, means) / static_cast<double>(means.size()));
  const double d = std::exp(level_of(fit.curve, means));
  fit.curve = {fit.curve.alpha * d, fit.curve.k, d};
  return fit;
}

}  // namespace rubato
