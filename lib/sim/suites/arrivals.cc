// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/suites/arrivals.h"

#include <cmath>

#include "lib/sim/suites/draw.h"

namespace rubato::sim {
namespace {

constexpr std::uint64_t kGaps = 101;
constexpr std::uint64_t kGroups = 102;
constexpr double kGroup = 4;

}  // namespace

const std::vector<std::string>& arrival_words() {
  static const std::vector<std::string> words{"poisson", "even", "bursty"};
  return words;
}

double ArrivalTimes::next() {
  const std::uint64_t number = number_++;
  switch (kind_) {
    case ArrivalKind::kEven:
      now_ += gap_;
      break;
    case ArrivalKind::kPoisson:
      now_ += draw_exponential(gap_, seed_, kGaps, number);
      break;
    case ArrivalKind::kBursty:
      if (more_ > 0) {
        --more_;
        break;
      }
      now_ += draw_exponential(gap_ * kGroup, seed_, kGaps, number);
      more_ = static_cast<int>(std::log1p(-uniform_noise(seed_, kGroups, number)) /
                               std::log1p(-1 / kGroup));
      break;
  }
  return now_;
}

}  // namespace rubato::sim
