// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/data_parallel/goodput.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace rubato {
namespace {

bool valid_noise(double noise) { return noise >= 0 && std::isfinite(noise); }
bool valid_batch(double batch) { return batch > 0 && std::isfinite(batch); }

}  // namespace

std::optional<double> statistical_efficiency(double noise, double batch, double reference) {
  if (!valid_noise(noise) || !valid_batch(batch) || !valid_batch(reference)) return std::nullopt;
  const double scale = std::min(noise, kMaxNoise);
  return (scale + reference) / (scale + batch);
}

std::optional<double> noise_scale(double variance, double square, double batch) {
  if (!valid_noise(variance) || !valid_noise(square) || !valid_batch(batch)) return std::nullopt;
  if (variance == 0) return 0;
  if (square == 0) return kMaxNoise;
  return std::min(batch * (variance / square), kMaxNoise);
}

std::optional<double> believed_noise(std::span<const double> reports, std::size_t last) {
  std::vector<double> kept;
  for (auto report = reports.rbegin(); report != reports.rend() && kept.size() < last; ++report) {
    if (valid_noise(*report)) kept.push_back(*report);
  }
  if (kept.empty()) return std::nullopt;
  std::ranges::sort(kept);
  const std::size_t middle = kept.size() / 2;
  return kept.size() % 2 == 1 ? kept[middle] : kept[middle - 1] / 2 + kept[middle] / 2;
}

std::optional<BatchChoice> best_goodput(const BatchRange& range, int gpus,
                                        const IterationSeconds& seconds,
                                        std::optional<double> noise) {
  if (!noise || !valid_noise(*noise) || range.least >= range.most) return std::nullopt;
  const auto reference = static_cast<double>(range.least);
  const BatchWorth worth = [&](double batch) {
    return statistical_efficiency(*noise, batch, reference).value_or(0);
  };
  return best_batch(range, gpus, seconds, worth);
}

}  // namespace rubato
