// SPDX-License-Identifier: GPL-2.0-or-later
// What a job of a profile had better requested, as far as the model is sure of it.
#pragma once

#include <optional>
#include <string>

#include "lib/model/throughput/throughput.h"

namespace rubato {

/// Another request for jobs of the same profile.
struct BetterRequest {
  std::string gpu_type;
  int gpus = 0;
  double ratio = 0;  ///< its throughput over that of the request, by the forecasts
  double low = 0;    ///< 90 % interval of the ratio
  double high = 0;

  bool operator==(const BetterRequest&) const = default;
};

/// Compares with each GPU type and number of GPUs that jobs of the profile measured. Sure is what
/// holds at the lower end of the interval, which ends 7 % below the forecast at best: reports of
/// the same configuration differ by that.
/// - fewer GPUs of the same type, at least 0.85 times as fast: the fewest
/// - as many of another type, at least 1.1 times as fast: the fastest
/// - more GPUs of the same type, at least 0.9 times as fast for each GPU: the most
/// in this order. nullopt if there is none, `gpus` is below 1, or a single job measured the
/// profile.
[[nodiscard]] std::optional<BetterRequest> better_request(const ThroughputModel& model,
                                                          const ProfileName& profile,
                                                          const std::string& gpu_type, int gpus);

}  // namespace rubato
