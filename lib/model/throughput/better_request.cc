// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput/better_request.h"

#include <cmath>
#include <set>
#include <utility>

namespace rubato {
namespace {

/// Of the standard normal: nine of ten lie within so many standard deviations.
constexpr double kInterval = 1.645;
constexpr double kAsFast = 0.85;
constexpr double kFaster = 1.1;
constexpr double kScales = 0.9;

using Place = std::pair<std::string, int>;  // GPU type, GPUs

/// Where at least one job of the profile ran; empty if a single job measured all of it.
std::set<Place> measured_places(const ThroughputModel& model, const ProfileName& profile) {
  std::set<Place> places;
  for (const ThroughputObservation& one : model.observations()) {
    if (one.profile != profile || one.throughput <= 0) continue;
    if (one.profile_jobs == 1) return {};
    places.emplace(one.gpu_type, one.gpus);
  }
  return places;
}

BetterRequest compared(const ThroughputModel& model, const ProfileName& profile, const Place& there,
                       const Place& here) {
  const Forecast ratio = model.ratio(profile, {.gpu_type = there.first, .gpus = there.second},
                                     {.gpu_type = here.first, .gpus = here.second});
  return {.gpu_type = there.first,
          .gpus = there.second,
          .ratio = std::exp(ratio.log_throughput),
          .low = std::exp(ratio.log_throughput - kInterval * ratio.stddev),
          .high = std::exp(ratio.log_throughput + kInterval * ratio.stddev)};
}

}  // namespace

std::optional<BetterRequest> better_request(const ThroughputModel& model,
                                            const ProfileName& profile, const std::string& gpu_type,
                                            int gpus) {
  if (gpus < 1 || profile.job_type.empty()) return std::nullopt;
  std::optional<BetterRequest> fewer;
  std::optional<BetterRequest> faster;
  std::optional<BetterRequest> more;
  for (const Place& place : measured_places(model, profile)) {
    if (place == Place(gpu_type, gpus)) continue;
    const BetterRequest one = compared(model, profile, place, {gpu_type, gpus});
    if (one.gpu_type == gpu_type && one.gpus < gpus) {
      if (one.low >= kAsFast && (!fewer || one.gpus < fewer->gpus)) fewer = one;
    } else if (one.gpu_type == gpu_type) {
      if (one.low >= kScales * one.gpus / gpus && (!more || one.gpus > more->gpus)) more = one;
    } else if (one.gpus == gpus) {
      if (one.low >= kFaster && (!faster || one.ratio > faster->ratio)) faster = one;
    }
  }
  if (fewer) return fewer;
  return faster ? faster : more;
}

}  // namespace rubato
