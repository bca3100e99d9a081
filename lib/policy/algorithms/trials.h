// SPDX-License-Identifier: GPL-2.0-or-later
// Which waiting jobs try a GPU type that their job type was not measured on.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "lib/model/throughput/throughput_kernel.h"
#include "lib/policy/algorithms/round_input.h"

namespace rubato {

/// Standard deviation of a forecast, of its logarithm, from which on a GPU type counts as not
/// measured.
inline constexpr double kUnmeasured = .3;
/// Standard deviations by which such a type counts as faster.
inline constexpr double kTrialOptimism = 1;

/// Optimism under uncertainty, as in UCB (Auer, Cesa-Bianchi & Fischer, Machine Learning 47, 2002):
/// a job that tries a type either runs fast or shows that others should not. One job at a time
/// tries a type for its profile, the first that asks; none does while a job of the profile runs
/// there. Jobs without hints try nothing.
class Trials {
 public:
  explicit Trials(const RoundInput& input);

  /// The part of its forecast time that a waiting job of this profile counts with on this GPU type.
  /// `stddev`: of the logarithm of the forecast.
  [[nodiscard]] double part(const Job& job, const ProfileName& profile, const std::string& gpu_type,
                            double stddev);

 private:
  bool off_;
  std::map<std::pair<ProfileName, std::string>, JobKey> tries_;
};

}  // namespace rubato
