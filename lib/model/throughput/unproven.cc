// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput/unproven.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "lib/base/statistics.h"

namespace rubato {
namespace {

using Observations = std::span<ThroughputObservation>;
/// GPU types: of the faster, of the reference.
using TypePair = std::pair<std::string, std::string>;
using TypeRatios = std::map<TypePair, std::vector<double>>;

bool proven(const ThroughputObservation& observation) {
  return observation.jobs != 1 && observation.throughput > 0;
}

/// The observations of each profile.
std::vector<Observations> profiles_of(std::vector<ThroughputObservation>& observations) {
  std::vector<Observations> profiles;
  auto begin = observations.begin();
  while (begin != observations.end()) {
    const auto end = std::find_if(begin, observations.end(),
                                  [&](const auto& one) { return one.profile != begin->profile; });
    profiles.emplace_back(begin, end);
    begin = end;
  }
  return profiles;
}

/// The ratios of two types that proven observations of `profile` show.
void add_ratios(Observations profile, TypeRatios& ratios) {
  for (const ThroughputObservation& a : profile) {
    for (const ThroughputObservation& b : profile) {
      if (!proven(a) || !proven(b) || a.gpus != b.gpus || a.gpu_type == b.gpu_type) continue;
      ratios[{a.gpu_type, b.gpu_type}].push_back(a.throughput / b.throughput);
    }
  }
}

class Bounds {
 public:
  Bounds(const TypeSpeeds& speeds, TypeRatios ratios, double factor)
      : speeds_(speeds), ratios_(std::move(ratios)), factor_(factor) {}

  /// Samples/s that `one` may claim beside the others of its profile; 0: nothing to compare with.
  [[nodiscard]] double of(const ThroughputObservation& one, Observations profile) const {
    const double sure = over(one, profile, true);
    return sure > 0 ? sure : over(one, profile, false);
  }

 private:
  [[nodiscard]] double over(const ThroughputObservation& one, Observations profile,
                            bool sure) const {
    std::vector<double> bounds;
    for (const ThroughputObservation& reference : profile) {
      if (&reference == &one || !(reference.throughput > 0) || (sure && !proven(reference)))
        continue;
      const double gpus = static_cast<double>(one.gpus) / reference.gpus;
      bounds.push_back(reference.throughput * ratio(one.gpu_type, reference.gpu_type) *
                       std::max(gpus, 1.0) * factor_);
    }
    return bounds.empty() ? 0 : upper_median(std::move(bounds));
  }

  [[nodiscard]] double ratio(const std::string& type, const std::string& reference) const {
    if (type == reference) return 1;
    const auto seen = ratios_.find({type, reference});
    return seen != ratios_.end() ? upper_median(seen->second)
                                 : speeds_.speed(type) / speeds_.speed(reference);
  }

  const TypeSpeeds& speeds_;
  TypeRatios ratios_;
  double factor_;
};

}  // namespace

void bound_unproven(std::vector<ThroughputObservation>& observations, const TypeSpeeds& speeds,
                    double factor) {
  const std::vector<Observations> profiles = profiles_of(observations);
  TypeRatios ratios;
  for (const Observations& profile : profiles) add_ratios(profile, ratios);
  const Bounds bounds(speeds, std::move(ratios), factor);
  for (const Observations& profile : profiles) {
    // All bounds first: one bounded claim is no reference for the next.
    std::vector<double> most;
    for (const ThroughputObservation& one : profile)
      most.push_back(proven(one) ? 0 : bounds.of(one, profile));
    for (std::size_t i = 0; i < profile.size(); ++i) {
      if (most[i] > 0) profile[i].throughput = std::min(profile[i].throughput, most[i]);
    }
  }
}

}  // namespace rubato
