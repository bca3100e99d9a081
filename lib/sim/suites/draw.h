// SPDX-License-Identifier: GPL-2.0-or-later
// Draws from distributions for generated workloads. Each draw has a name (seed, stream, number), so
// that adding or removing a draw does not change the others.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/sim/engine/noise.h"

namespace rubato::sim {

/// Uniform in [from, to).
[[nodiscard]] inline double draw_between(double from, double to, std::uint64_t seed,
                                         std::uint64_t stream, std::uint64_t number) {
  return from + (to - from) * uniform_noise(seed, stream, number);
}

/// Exponential with this mean.
[[nodiscard]] inline double draw_exponential(double mean, std::uint64_t seed, std::uint64_t stream,
                                             std::uint64_t number) {
  return -mean * std::log1p(-uniform_noise(seed, stream, number));
}

/// The index of the part that contains `share` (0..1). Parts have these weights (at least 0, some
/// above).
[[nodiscard]] std::size_t part_of(std::span<const double> weights, double share);

/// A quantile of a published distribution.
struct Quantile {
  double share = 0;  ///< 0..1
  double value = 0;  ///< above 0
};
/// The value at `share`. The logarithm of values is linear between points, which increase in both.
[[nodiscard]] double value_at(std::span<const Quantile> points, double share);

/// The probability that a standard normal value is below `z`.
[[nodiscard]] double normal_share(double z);
/// The inverse of normal_share(), for 0 < share < 1.
[[nodiscard]] double normal_point(double share);

}  // namespace rubato::sim
