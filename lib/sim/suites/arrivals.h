// SPDX-License-Identifier: GPL-2.0-or-later
// Arrival times of generated workloads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rubato::sim {

enum class ArrivalKind {
  kPoisson,  ///< gaps are exponential
  kEven,     ///< equal gaps
  kBursty,   ///< groups of 1 or more at once, mean 4 (geometric), with exponential gaps
};
/// The names of the kinds, in enum order.
[[nodiscard]] const std::vector<std::string>& arrival_words();

/// Non-decreasing arrival times with a mean gap of `gap` seconds, from 0 on.
class ArrivalTimes {
 public:
  /// `gap`: mean seconds between two jobs, above 0.
  ArrivalTimes(ArrivalKind kind, double gap, std::uint64_t seed)
      : kind_(kind), gap_(gap), seed_(seed) {}

  [[nodiscard]] double next();

 private:
  ArrivalKind kind_;
  double gap_;
  std::uint64_t seed_;
  std::uint64_t number_ = 0;
  double now_ = 0;
  int more_ = 0;  ///< further jobs that arrive at this time
};

}  // namespace rubato::sim
