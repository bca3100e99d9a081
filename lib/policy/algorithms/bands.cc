// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/bands.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace rubato {
namespace {

constexpr double kAutoBands = 5;

// PriorityType=priority/basic counts down from here, by one a job (TOP_PRIORITY of
// src/slurmctld/slurmctld.h).
constexpr std::uint32_t kTopPriority = 0xffff0000;

bool counts_for_bands(const Job& job) {
  return job.managed && job.request.wants_gpus() && job.block == Block::kNone &&
         !job.priority_set && !job.niced && job.priority != 0;
}

// A fifth of the span of the priorities. One band where all are equal, or where priorities only
// count submissions.
double automatic_band(const std::vector<const Job*>& jobs) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t most = 0;
  JobId first = std::numeric_limits<JobId>::max();
  JobId last = 0;
  for (const Job* job : jobs) {
    if (!counts_for_bands(*job)) continue;
    least = std::min(least, job->priority);
    most = std::max(most, job->priority);
    first = std::min(first, job->key.id);
    last = std::max(last, job->key.id);
  }
  if (most <= least) return kInfinite;
  const double span = static_cast<double>(most) - least;
  // A job that was held and let go counts again.
  const bool counts = most <= kTopPriority && span <= 2.0 * (last - first + 1) &&
                      static_cast<double>(kTopPriority) - least <= 2.0 * last;
  return counts ? kInfinite : span / kAutoBands;
}

}  // namespace

Bands::Bands(const std::vector<const Job*>& jobs, const Config& config)
    : width_(config.priority_band) {
  if (width_ < 0) width_ = automatic_band(jobs);
}

double Bands::of(const Job& job) const {
  return width_ == 0 ? job.priority : std::floor(job.priority / width_);
}

}  // namespace rubato
