// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/engine/time_limits.h"

#include <algorithm>
#include <cmath>

#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/noise.h"

namespace rubato::sim {
namespace {

/// Streams of draws. They are large, since reports use the numbers of jobs as streams.
enum : std::uint64_t { kFactor = 0x6c696d6974000000, kMissing };

}  // namespace

double limit_class(double seconds) {
  const auto found = std::ranges::lower_bound(kLimitClasses, seconds);
  if (found != kLimitClasses.end()) return *found;
  return std::ceil(seconds / kLimitClasses.back()) * kLimitClasses.back();
}

double drawn_limit(double seconds, std::uint64_t seed, std::uint64_t number) {
  if (seconds <= kDefaultLimit && uniform_noise(seed, kMissing, number) < kMissingLimits) {
    return kDefaultLimit;
  }
  const double factor =
      kMinLimitFactor + (kMaxLimitFactor - kMinLimitFactor) * uniform_noise(seed, kFactor, number);
  return std::min(limit_class(seconds * factor), std::max(kPartitionLimit, limit_class(seconds)));
}

double asked_limit(const Truth& truth, const ClusterShape& cluster, const SimJob& job,
                   Limits limits, std::uint64_t seed, std::uint64_t number) {
  if (job.time_limit < kNever) return job.time_limit;
  const double longest = longest_seconds(truth, cluster, job);
  if (!(longest < kNever)) return kNever;
  if (limits == Limits::kUsers) return drawn_limit(longest, seed, number);
  return std::ceil(longest / 60) * 60;
}

}  // namespace rubato::sim
