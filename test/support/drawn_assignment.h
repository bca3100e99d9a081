// SPDX-License-Identifier: GPL-2.0-or-later
// Random assignment problems like those of Sia: three GPU types in its cluster's proportions, jobs
// that scale differently well, costs in whole hundredths.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "lib/sim/engine/noise.h"
#include "lib/sim/solver/assignment_problem.h"

namespace rubato::test {

/// `gpus` of the cluster must be a multiple of 64. With `alike`, half of the jobs have equal costs,
/// like jobs without measurements.
inline sim::AssignmentProblem drawn_choice(std::uint64_t seed, int gpus, int jobs,
                                           bool alike = false) {
  std::uint64_t next = 0;
  const auto draw = [&] { return sim::uniform_noise(seed, 11, next++); };
  struct Type {
    int nodes;
    int node_gpus;
    double speed;
  };
  const int times = gpus / 64;
  const std::array<Type, 3> types{{{6 * times, 4, 1}, {2 * times, 8, 3}, {3 * times, 8, 1.6}}};
  sim::AssignmentProblem choice;
  for (const auto t : indices<sim::TypeIndex>(types)) {
    choice.gpus.push_back(types[t].nodes * types[t].node_gpus);
    for (int g = 1; g <= types[t].node_gpus; g *= 2) choice.columns.push_back({t, g});
    for (int n = 2; n <= types[t].nodes; ++n) choice.columns.push_back({t, n * types[t].node_gpus});
  }
  for (int job = 0; job < jobs; ++job) {
    const int most = 1 << static_cast<int>(7 * draw());
    const double scaling = 0.5 + 0.45 * draw();
    std::array<double, 3> speeds{};
    for (const auto t : indices<sim::TypeIndex>(types))
      speeds[t] = types[t].speed * (0.7 + 0.6 * draw());
    const double slowest = *std::min_element(std::begin(speeds), std::end(speeds));
    const double kept = 0.6 + 0.4 * draw();
    const auto held = static_cast<std::size_t>(draw() * static_cast<double>(choice.columns.size()));
    auto& row = choice.costs.emplace_back();
    for (std::size_t c = 0; c < choice.columns.size(); ++c) {
      const sim::AssignmentColumn& column = choice.columns[c];
      double value =
          speeds[column.type] / slowest * std::pow(column.gpus, scaling) * (c == held ? 1 : kept);
      if (alike && job % 2 == 0) value = column.gpus == 1 ? 1 : 0;
      if (column.gpus > most) value = 0;
      row.push_back(value > 0 ? std::nearbyint(100 / std::sqrt(value)) - 110 : 1000);
    }
  }
  return choice;
}

}  // namespace rubato::test
