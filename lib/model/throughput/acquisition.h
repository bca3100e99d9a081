// SPDX-License-Identifier: GPL-2.0-or-later
// Active learning: the most informative configuration of a profile to measure next.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lib/model/throughput/throughput.h"

namespace rubato {

/// What reports of a job there would be worth.
struct InformativeMeasurement {
  ProfileName profile;
  std::string gpu_type;
  int gpus = 1;
  /// By how much the spread of the forecasts of this profile falls, in the mean over its places
  /// (GPU types of the cluster, numbers of GPUs it was measured at), as ln rate.
  double reduction = 0;
  double stddev = 0;  ///< of the forecast there now
  double mean = 0;    ///< spread now, in the mean over those places

  bool operator==(const InformativeMeasurement&) const = default;
};

/// Most places of a profile that are looked at, and most profiles (those with most reports).
constexpr std::size_t kMaxAcquisitionConfigurations = 48;
constexpr std::size_t kMaxAcquisitionProfiles = 64;

/// The configurations of each profile where a few reports would be most informative, best
/// first, at most `a_profile` of each. After one measurement of variance v at x the covariance of y
/// falls by cov(x, y)^2 / (var(x) + v): no rate has to be known for that (MacKay 1992). Places in
/// which it does not fit are not worth a try. By reduction, then profile, GPU type, GPUs.
[[nodiscard]] std::vector<InformativeMeasurement> most_informative(
    const ThroughputModel& model, const std::set<std::string>& gpu_types,
    std::size_t a_profile = 1);

}  // namespace rubato
