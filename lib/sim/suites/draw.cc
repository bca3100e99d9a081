// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/suites/draw.h"

#include <algorithm>
#include <numbers>
#include <numeric>

namespace rubato::sim {

std::size_t part_of(std::span<const double> weights, double share) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  double below = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    below += weights[i];
    last = i;
    if (share * all < below) return i;
  }
  return last;
}

double value_at(std::span<const Quantile> points, double share) {
  const auto above = std::find_if(points.begin(), points.end(),
                                  [share](const Quantile& point) { return point.share >= share; });
  if (above == points.end()) return points.back().value;
  if (above == points.begin()) return above->value;
  const Quantile& below = *std::prev(above);
  const double part = (share - below.share) / (above->share - below.share);
  return below.value * std::pow(above->value / below.value, part);
}

double normal_share(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

double normal_point(double share) {
  double low = -40;
  double high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (normal_share(middle) < share ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace rubato::sim
