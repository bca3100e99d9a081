// SPDX-License-Identifier: GPL-2.0-or-later
// Counter-based random numbers: the same seed, stream and number give the same value, in any order
// of calls.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace rubato::sim {

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

/// Uniform in [0, 1).
[[nodiscard]] constexpr double uniform_noise(std::uint64_t seed, std::uint64_t stream,
                                             std::uint64_t number) {
  const std::uint64_t bits = mix_bits(mix_bits(mix_bits(seed) ^ stream) ^ number);
  return static_cast<double>(bits >> 11U) * 0x1p-53;
}

/// Standard normal (Box and Muller 1958).
[[nodiscard]] inline double normal_noise(std::uint64_t seed, std::uint64_t stream,
                                         std::uint64_t number) {
  const double radius = std::sqrt(-2 * std::log1p(-uniform_noise(seed, stream, 2 * number)));
  return radius * std::cos(2 * std::numbers::pi * uniform_noise(seed, stream, 2 * number + 1));
}

}  // namespace rubato::sim
