// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/market/rank_value.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace rubato {
namespace {

// Sums over the jobs from the one on that is worth least a GPU-second.
class Sums {
 public:
  void add(double weight, double worth) {
    weights_.push_back(weights_.back() + weight);
    moments_.push_back(moments_.back() + weight * worth);
  }
  [[nodiscard]] double weight(std::size_t from, std::size_t to) const {
    return weights_[to] - weights_[from];
  }
  [[nodiscard]] double moment(std::size_t from, std::size_t to) const {
    return moments_[to] - moments_[from];
  }

 private:
  std::vector<double> weights_{0};
  std::vector<double> moments_{0};
};

// By job: the weight of those that it delays, and its own.
std::vector<double> delayed_weights(const std::vector<RankedJob>& jobs,
                                    const std::vector<double>& weights) {
  std::vector<double> worth(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i)
    worth[i] = std::log(weights[i] / jobs[i].area / (weights[0] / jobs[0].area));
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return worth[a] < worth[b]; });
  Sums sums;
  for (const std::size_t i : order) sums.add(weights[i], worth[i]);
  std::vector<double> delayed(jobs.size());
  std::size_t below = 0;  // jobs that are surely worth less
  std::size_t near = 0;   // jobs that are not surely worth more
  for (const std::size_t i : order) {
    while (worth[order[below]] <= worth[i] - kRankBlur) ++below;
    while (near < order.size() && worth[order[near]] < worth[i] + kRankBlur) ++near;
    const double apart =
        worth[i] * sums.weight(below, near) - sums.moment(below, near);  // of those between
    delayed[i] = sums.weight(0, below) + sums.weight(below, near) / 2 + apart / (2 * kRankBlur) +
                 weights[i] / 2;
  }
  return delayed;
}

}  // namespace

std::vector<double> rank_values(const std::vector<RankedJob>& jobs, double power) {
  std::vector<double> weights;
  weights.reserve(jobs.size());
  for (const RankedJob& job : jobs)
    weights.push_back(job.weight * std::pow(job.age + job.seconds, kAgePower));
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const double mean = jobs.empty() ? 1 : sum / static_cast<double>(jobs.size());

  std::vector<double> values = delayed_weights(jobs, weights);
  for (std::size_t i = 0; i < jobs.size(); ++i)
    values[i] = std::pow(values[i] / mean, power) * jobs[i].area;
  return values;
}

}  // namespace rubato
