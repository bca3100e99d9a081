// SPDX-License-Identifier: GPL-2.0-or-later
// Draws from distributions for generated workloads. Each is by name (seed, stream, number), so that
// another draw more or less changes none of the others.
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

/// Where `share` (0..1) falls among parts of these weights (at least 0, some above).
[[nodiscard]] std::size_t part_of(std::span<const double> weights, double share);

/// A point of a distribution that was published by quantiles.
struct Quantile {
  double share = 0;  ///< 0..1
  double value = 0;  ///< above 0
};
/// The value at `share`, with the logarithm of values linear between the points, which rise in
/// both.
[[nodiscard]] double value_at(std::span<const Quantile> points, double share);

/// The share of a standard normal below `z`.
[[nodiscard]] double normal_share(double z);
/// Its inverse, for 0 < share < 1.
[[nodiscard]] double normal_point(double share);

}  // namespace rubato::sim
