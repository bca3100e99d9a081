// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/market/closing.h"

#include <algorithm>
#include <cmath>

namespace rubato {
namespace {

/// Bounds the gain of a job that can no longer wait.
constexpr double kMaxShare = .95;
constexpr double kFirstArrivals = .5;

}  // namespace

Closing closing_of(const std::vector<Seconds>& arrivals, Seconds now, double drain) {
  if (arrivals.empty()) return {0, drain};
  const std::size_t counted = std::min(kArrivalsCounted, arrivals.size() - 1);
  const Seconds since = arrivals[arrivals.size() - 1 - counted];
  const double passed = static_cast<double>(std::max<Seconds>(now - since, 0));
  const double rate = counted == 0 ? kFirstArrivals / (passed + drain)
                                   : static_cast<double>(counted) / std::max(passed, 1.0);
  return {std::exp(-rate * drain), drain};
}

double closing_power(const Closing& closing, double power) { return power * (1 - closing.chance); }

double closing_urgency(const Closing& closing, const ClosingJob& job) {
  // At its fastest a job may need more GPU-seconds than the drain has counted for it.
  const double others = closing.drain - job.filled;
  if (!(closing.chance > 0) || !(others > 0)) return 1;
  const double share = std::clamp((job.seconds - job.held) / others, 0.0, kMaxShare);
  return std::pow(1 - std::pow(share, kClosingLate), -kClosingUrgency * closing.chance);
}

}  // namespace rubato
