// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput/fit_inputs.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace rubato {
namespace {

auto order_of(const ThroughputObservation& observation) {
  return std::tie(observation.profile, observation.gpu_type, observation.gpus, observation.nodes,
                  observation.batch, observation.plan);
}

bool usable(const ThroughputObservation& observation) {
  return std::isfinite(observation.throughput) && observation.throughput >= 0 &&
         observation.gpus > 0 && observation.samples > 0 && observation.nodes >= 0 &&
         observation.batch >= 0 && std::isfinite(observation.weight) && observation.weight >= 0;
}

void join(ThroughputObservation& into, const ThroughputObservation& observation) {
  if (!fit_inputs::measured_throughput(into) || !fit_inputs::measured_throughput(observation)) {
    // A measured throughput overrides "does not fit".
    if (fit_inputs::measured_throughput(observation)) into = observation;
    return;
  }
  const double have = fit_inputs::reports_of(into);
  const double more = fit_inputs::reports_of(observation);
  const bool weighted = into.weight > 0 || observation.weight > 0;
  into.throughput = std::exp(
      (have * std::log(into.throughput) + more * std::log(observation.throughput)) / (have + more));
  into.samples += observation.samples;
  into.jobs = std::max(into.jobs, observation.jobs);
  into.profile_jobs = std::max(into.profile_jobs, observation.profile_jobs);
  if (weighted) into.weight = have + more;
}

}  // namespace

bool before(const ThroughputObservation& a, const ThroughputObservation& b) {
  return order_of(a) < order_of(b);
}
bool same_configuration(const ThroughputObservation& a, const ThroughputObservation& b) {
  return order_of(a) == order_of(b);
}

namespace fit_inputs {

bool measured_throughput(const ThroughputObservation& observation) {
  return observation.throughput > 0;
}

double reports_of(const ThroughputObservation& observation) {
  return observation.weight > 0 ? observation.weight : static_cast<double>(observation.samples);
}

std::vector<ThroughputObservation> joined(std::vector<ThroughputObservation> observations) {
  std::erase_if(observations,
                [](const ThroughputObservation& observation) { return !usable(observation); });
  std::sort(observations.begin(), observations.end(),
            [](const ThroughputObservation& a, const ThroughputObservation& b) {
              return std::tuple(order_of(a), a.throughput, a.samples, a.weight) <
                     std::tuple(order_of(b), b.throughput, b.samples, b.weight);
            });
  std::vector<ThroughputObservation> result;
  for (ThroughputObservation& observation : observations) {
    if (!result.empty() && same_configuration(result.back(), observation))
      join(result.back(), observation);
    else
      result.push_back(std::move(observation));
  }
  return result;
}

std::vector<CurvePoint> sorted(std::vector<CurvePoint> curves, std::size_t most) {
  const auto key = [](const CurvePoint& point) {
    return std::tie(point.profile, point.configuration);
  };
  std::erase_if(curves, [](const CurvePoint& point) {
    return !std::isfinite(point.log_throughput) || !std::isfinite(point.stddev) ||
           point.configuration.gpus <= 0 || std::abs(point.log_throughput) > kFarLogThroughput;
  });
  std::sort(curves.begin(), curves.end(), [&](const CurvePoint& a, const CurvePoint& b) {
    return std::tuple(key(a), a.stddev, a.log_throughput) <
           std::tuple(key(b), b.stddev, b.log_throughput);
  });
  curves.erase(std::unique(curves.begin(), curves.end(),
                           [&](const CurvePoint& a, const CurvePoint& b) {
                             return key(a) == key(b);  // keeps the more certain one
                           }),
               curves.end());
  if (curves.size() > most) curves.resize(most);
  return curves;
}

}  // namespace fit_inputs
}  // namespace rubato
