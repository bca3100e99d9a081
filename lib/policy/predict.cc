// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/predict.h"

#include <algorithm>
#include <numeric>

#include "lib/policy/algorithms/service.h"

namespace rubato {
namespace {

std::vector<double> predict_speeds(const Models& models, const std::vector<std::string>& types) {
  std::vector<double> speeds;
  speeds.reserve(types.size());
  for (const std::string& type : types) {
    speeds.push_back(models.forecasts().speed(type));
  }
  return speeds;
}

std::vector<TypeId> by_speed(const std::vector<double>& speeds) {
  std::vector<TypeId> types(speeds.size());
  std::iota(types.begin(), types.end(), TypeId{0});
  std::stable_sort(types.begin(), types.end(),
                   [&](TypeId a, TypeId b) { return speeds[a] > speeds[b]; });
  return types;
}

}  // namespace

Forecasts predict(const RoundInput& input, const std::vector<std::string>& types) {
  const auto& [snapshot, models, config, now] = input;
  Forecasts forecasts;
  forecasts.speeds = predict_speeds(models, types);
  forecasts.fastest = by_speed(forecasts.speeds);
  forecasts.service = update_service(snapshot, models, config, now);
  forecasts.needs = expected_needs(snapshot, models, config, forecasts.service, now);
  return forecasts;
}

}  // namespace rubato
