// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/statistics.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>

namespace rubato {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return kNoValue;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double upper_median(std::vector<double> values) {
  if (values.empty()) return kNoValue;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double weighted_median(std::vector<WeightedValue> values) {
  if (values.empty()) return kNoValue;
  std::sort(values.begin(), values.end(),
            [](const WeightedValue& a, const WeightedValue& b) { return (a <=> b) < 0; });
  double total = 0;
  for (const WeightedValue& one : values) total += one.weight;
  double below = 0;
  for (const WeightedValue& one : values) {
    below += one.weight;
    if (below >= total / 2) return one.value;
  }
  return values.back().value;
}

double mean(std::span<const double> values) {
  if (values.empty()) return kNoValue;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double sorted_mean(std::vector<double> values) {
  std::ranges::sort(values);
  return mean(values);
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return kNoValue;
  std::sort(values.begin(), values.end());
  const double position = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double part = position - static_cast<double>(below);
  return values[below] + part * (values[above] - values[below]);
}

}  // namespace rubato
