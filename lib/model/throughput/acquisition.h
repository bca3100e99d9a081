// SPDX-License-Identifier: GPL-2.0-or-later
// Active learning: the most informative configuration of a profile to measure next.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lib/model/throughput/throughput.h"

namespace rubato {

/// The value of measuring a configuration.
struct InformativeMeasurement {
  ProfileName profile;
  std::string gpu_type;
  int gpus = 1;
  /// Reduction of the standard deviation (ln throughput) of this profile's forecasts. Mean over its
  /// configurations: GPU types of the cluster, measured numbers of GPUs.
  double reduction = 0;
  double stddev = 0;  ///< of the forecast there now
  double mean = 0;    ///< current standard deviation, mean over those configurations

  bool operator==(const InformativeMeasurement&) const = default;
};

/// Maximum number of configurations per profile, and of profiles (those with the most reports).
constexpr std::size_t kMaxAcquisitionConfigurations = 48;
constexpr std::size_t kMaxAcquisitionProfiles = 64;

/// The configurations of each profile where a few reports would be most informative, best first, at
/// most `a_profile` of each. A measurement of variance v at x reduces the covariance of y by cov(x,
/// y)^2 / (var(x) + v), whatever the throughput (MacKay 1992). Skips configurations in which the
/// profile does not fit. Sorted by reduction, then profile, GPU type, GPUs.
[[nodiscard]] std::vector<InformativeMeasurement> most_informative(
    const ThroughputModel& model, const std::set<std::string>& gpu_types,
    std::size_t a_profile = 1);

}  // namespace rubato
