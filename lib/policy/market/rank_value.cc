// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/market/rank_value.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace rubato {

std::vector<double> rank_values(const std::vector<RankedJob>& jobs, double power) {
  std::vector<double> weights;
  weights.reserve(jobs.size());
  for (const RankedJob& job : jobs)
    weights.push_back(job.weight * std::pow(job.age + job.seconds, kAgePower));
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const double mean = jobs.empty() ? 1 : sum / static_cast<double>(jobs.size());

  // From the job that is worth least a GPU-second.
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto worth = [&](std::size_t i) { return weights[i] / jobs[i].area; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return worth(a) < worth(b); });

  std::vector<double> values(jobs.size());
  double delayed = 0;
  for (const std::size_t i : order) {
    delayed += weights[i] / mean;
    values[i] = std::pow(delayed, power) * jobs[i].area;
  }
  return values;
}

}  // namespace rubato
