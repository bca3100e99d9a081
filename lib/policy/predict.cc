// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/predict.h"

#include <algorithm>
#include <numeric>

namespace rubato {

std::vector<double> predict_speeds(const Models& models, const std::vector<std::string>& types) {
  std::vector<double> speeds;
  speeds.reserve(types.size());
  for (const std::string& type : types) {
    // Of a job type that nobody has seen: what is common to all that were.
    speeds.push_back(models.learnt() != nullptr ? models.learnt()->predict({}, type, 1).rate()
                                                : models.speed(type));
  }
  return speeds;
}

std::vector<TypeId> by_speed(const std::vector<double>& speeds) {
  std::vector<TypeId> types(speeds.size());
  std::iota(types.begin(), types.end(), 0);
  std::stable_sort(types.begin(), types.end(), [&](TypeId a, TypeId b) {
    return speeds[static_cast<std::size_t>(a)] > speeds[static_cast<std::size_t>(b)];
  });
  return types;
}

}  // namespace rubato
