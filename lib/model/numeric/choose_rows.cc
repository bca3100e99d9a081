// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/numeric/choose_rows.h"

#include <algorithm>
#include <cmath>

namespace rubato {
namespace {

// Relative tolerance of a gain: rounding must not decide between equal candidates.
constexpr double kTie = 1e-9;

}  // namespace

std::optional<std::size_t> choose_row(std::span<const double> covariance, double noise,
                                      const std::vector<bool>& taken,
                                      std::span<const double> weights) {
  const std::size_t n = taken.size();
  if (covariance.size() != n * n || (!weights.empty() && weights.size() != n)) return std::nullopt;
  std::optional<std::size_t> best;
  double most = -1;
  for (std::size_t i = 0; i < n; ++i) {
    if (taken[i]) continue;
    const double own = covariance[i * n + i] + noise;
    double gain = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const double weight = weights.empty() ? 1 : weights[j];
      gain += weight * covariance[i * n + j] * covariance[i * n + j];
    }
    gain = own > 0 ? gain / own : 0;
    if (!std::isfinite(gain)) gain = 0;
    if (!best || gain > most * (1 + kTie)) {
      best = i;
      most = gain;
    }
  }
  return best;
}

std::vector<std::size_t> choose_rows(std::size_t candidates, std::size_t most,
                                     const NextRow& next) {
  std::vector<std::size_t> chosen;
  while (chosen.size() < std::min(candidates, most)) {
    const std::optional<std::size_t> row = next(chosen);
    if (!row || *row >= candidates || std::ranges::find(chosen, *row) != chosen.end()) break;
    chosen.push_back(*row);
  }
  return chosen;
}

}  // namespace rubato
