// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput/acquisition.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace rubato {
namespace {

// Number of reports that a new job is assumed to send.
constexpr double kReports = 4;

double root(double variance) { return std::sqrt(std::max(variance, 0.0)); }

/// Sizes at which a profile ran, and its number of reports.
struct Known {
  std::set<int> sizes;
  std::set<std::string> types;
  std::int64_t reports = 0;
};

std::vector<JobConfiguration> configurations_of(const Known& known,
                                                const std::set<std::string>& gpu_types) {
  std::set<std::string> types = gpu_types;
  for (const std::string& type : known.types)
    if (type.find('+') == std::string::npos) types.insert(type);
  std::vector<JobConfiguration> configurations;
  for (const int gpus : known.sizes) {
    for (const std::string& type : types)
      if (configurations.size() < kMaxAcquisitionConfigurations)
        configurations.push_back({.gpu_type = type, .gpus = gpus});
  }
  return configurations;
}

std::vector<InformativeMeasurement> most_informative_of(
    const ThroughputModel& model, const ProfileName& profile,
    std::vector<JobConfiguration> configurations) {
  std::erase_if(configurations, [&](const JobConfiguration& configuration) {
    return !model.predict(profile, configuration.gpu_type, configuration.gpus).feasible;
  });
  const auto covariance = model.covariance(profile, configurations);
  const double measured = noise(model.prior(), kReports);
  double now = 0;
  for (std::size_t y = 0; y < configurations.size(); ++y) now += root(covariance[y][y]);
  std::vector<InformativeMeasurement> result;
  for (std::size_t x = 0; x < configurations.size(); ++x) {
    double after = 0;
    for (std::size_t y = 0; y < configurations.size(); ++y) {
      const double told = covariance[x][y] * covariance[x][y] / (covariance[x][x] + measured);
      after += root(covariance[y][y] - told);
    }
    const auto n = static_cast<double>(configurations.size());
    result.push_back({.profile = profile,
                      .gpu_type = configurations[x].gpu_type,
                      .gpus = configurations[x].gpus,
                      .reduction = std::max((now - after) / n, 0.0),
                      .stddev = root(covariance[x][x]),
                      .mean = now / n});
  }
  return result;
}

}  // namespace

std::vector<InformativeMeasurement> most_informative(const ThroughputModel& model,
                                                     const std::set<std::string>& gpu_types,
                                                     std::size_t a_profile) {
  std::map<ProfileName, Known> profiles;
  for (const ThroughputObservation& observation : model.observations()) {
    if (observation.throughput <= 0) continue;
    Known& known = profiles[observation.profile];
    known.sizes.insert(observation.gpus);
    known.types.insert(observation.gpu_type);
    known.reports += observation.samples;
  }
  std::vector<std::pair<std::int64_t, const ProfileName*>> order;
  order.reserve(profiles.size());
  for (const auto& [name, known] : profiles) order.emplace_back(-known.reports, &name);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (order.size() > kMaxAcquisitionProfiles) order.resize(kMaxAcquisitionProfiles);

  const auto better = [](const InformativeMeasurement& a, const InformativeMeasurement& b) {
    return std::tie(b.reduction, a.profile, a.gpu_type, a.gpus) <
           std::tie(a.reduction, b.profile, b.gpu_type, b.gpus);
  };
  std::vector<InformativeMeasurement> all;
  for (const auto& [unused, name] : order) {
    std::vector<InformativeMeasurement> own =
        most_informative_of(model, *name, configurations_of(profiles[*name], gpu_types));
    std::sort(own.begin(), own.end(), better);
    if (own.size() > a_profile) own.resize(a_profile);
    all.insert(all.end(), own.begin(), own.end());
  }
  std::sort(all.begin(), all.end(), better);
  return all;
}

}  // namespace rubato
