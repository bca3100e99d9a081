// SPDX-License-Identifier: GPL-2.0-or-later
// Medians, means and percentiles. Not Boost.Math: its mean adds in another order, which changes the
// last digits of published figures, and it has neither the upper nor the weighted median.
#pragma once

#include <span>
#include <vector>

namespace rubato {

/// The middle value; of an even number of values the mean of the two in the middle. NaN without
/// values.
[[nodiscard]] double median(std::vector<double> values);

/// The middle value; of an even number of values the larger of the two in the middle, so always one
/// of `values`. NaN without values.
[[nodiscard]] double upper_median(std::vector<double> values);

struct WeightedValue {
  double value = 0;
  double weight = 0;  ///< at least 0

  auto operator<=>(const WeightedValue&) const = default;
};

/// The smallest value for which the values up to it have at least half of the total weight. NaN
/// without values.
[[nodiscard]] double weighted_median(std::vector<WeightedValue> values);

/// The mean, added up in the given order. NaN without values.
[[nodiscard]] double mean(std::span<const double> values);

/// The mean, added up in ascending order: the order of `values` does not change its last digits.
/// NaN without values.
[[nodiscard]] double sorted_mean(std::vector<double> values);

/// The value below which `share` (0 to 1) of the values lie, by linear interpolation between the
/// two nearest ones (Hyndman and Fan, Sample Quantiles in Statistical Packages, The American
/// Statistician 50(4), 1996, definition 7; numpy's default). NaN without values.
[[nodiscard]] double percentile(std::vector<double> values, double share);

}  // namespace rubato
