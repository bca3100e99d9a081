// SPDX-License-Identifier: GPL-2.0-or-later
// When the jobs of a generated workload come.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rubato::sim {

enum class ArrivalKind {
  kPoisson,  ///< gaps are exponential
  kEven,     ///< gaps are alike
  kBursty,   ///< groups of 1 and more at once, 4 in the mean (geometric), gaps between them
             ///< exponential
};
/// The words of the kinds, in their order.
[[nodiscard]] const std::vector<std::string>& arrival_words();

/// Times one after the other, not falling, from `gap` s after 0 in the mean.
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
  int more_ = 0;  ///< that come now too
};

}  // namespace rubato::sim
