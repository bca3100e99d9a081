// SPDX-License-Identifier: GPL-2.0-or-later
// Time limits of jobs whose workload has none.
//
// Users overestimate: Mu'alem and Feitelson (IEEE TPDS 12(6), 2001, section 4) draw estimates
// uniformly between the run time and a multiple of it. They also ask for a few common values
// (Tsafrir, Etsion and Feitelson, JSSPP 2005), and some give no limit. None of the published
// traces has limits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "lib/sim/engine/cluster_shape.h"
#include "lib/sim/engine/truth.h"
#include "lib/sim/engine/workload.h"

namespace rubato::sim {

enum class Limits {
  kUsers,  ///< drawn as users ask
  kExact,  ///< the true run time, in whole minutes
};

/// The words of --limits, in the order of the enumeration.
inline constexpr std::array<std::string_view, 2> kLimitsWords{"users", "exact"};

[[nodiscard]] constexpr std::string_view to_string(Limits limits) {
  return kLimitsWords[static_cast<std::size_t>(limits)];
}

/// nullopt: not one of the words.
[[nodiscard]] constexpr std::optional<Limits> limits_of(std::string_view word) {
  for (std::size_t i = 0; i < kLimitsWords.size(); ++i) {
    if (kLimitsWords[i] == word) return static_cast<Limits>(i);
  }
  return std::nullopt;
}

/// A limit is the run time times a factor in this range, rounded up to a class.
inline constexpr double kMinLimitFactor = 1.2;
inline constexpr double kMaxLimitFactor = 10;
/// Share of users who give no limit, among jobs that end within the default limit.
inline constexpr double kMissingLimits = 0.1;
/// The limits of the partition, s: of jobs without one, and the maximum.
inline constexpr double kDefaultLimit = 24 * 3600;
inline constexpr double kPartitionLimit = 7 * 24 * 3600;
/// The limits that users ask for, s. Jobs of more than 30 days ask for a multiple of that.
inline constexpr std::array<double, 16> kLimitClasses{
    300,       600,       900,       1800,      3600,       2 * 3600,   4 * 3600,   8 * 3600,
    12 * 3600, 24 * 3600, 48 * 3600, 72 * 3600, 120 * 3600, 168 * 3600, 336 * 3600, 720 * 3600};

/// The smallest class of at least `seconds`.
[[nodiscard]] double limit_class(double seconds);

/// The limit, in seconds, of a job that runs for `seconds`; never below `seconds`. `number`: the
/// job's number in the stream of this seed.
[[nodiscard]] double drawn_limit(double seconds, std::uint64_t seed, std::uint64_t number);

/// The time limit of the submission, in seconds: that of the workload if it has one. Else derived
/// from the job's true time alone, start included, on its slowest type and at its slowest size: a
/// limit must hold for all sizes. Infinity: it can run nowhere.
[[nodiscard]] double asked_limit(const Truth& truth, const ClusterShape& cluster, const SimJob& job,
                                 Limits limits, std::uint64_t seed, std::uint64_t number);

}  // namespace rubato::sim
