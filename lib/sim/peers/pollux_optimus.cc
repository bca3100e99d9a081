// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/pollux_optimus.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rubato::sim {
namespace {

/// Iterations to the end, without those of the last epoch, as in the artifact.
double remaining(const LoopJob& job) {
  const std::size_t last = job.app().epochs() - 1;
  if (last <= job.run.epoch) return 1;
  return job.app().iterations(job.job->batch, last) -
         job.app().iterations(job.job->batch, job.run.epoch);
}

int max_gpus(const LoopJob& job) {
  if (job.rules->only_batch > 0) return 1;
  return static_cast<int>(
      std::floor(job.job->batch / static_cast<double>(job.app().table(0).least())));
}

}  // namespace

double PolluxOptimus::iteration(const LoopJob& job, int gpus) {
  const AdaptiveApp& app = job.app();
  const auto [at, is_new] = iterations_[{&app, job.job->batch}].try_emplace(gpus, 0);
  if (!is_new) return at->second;
  std::vector<int> placement(static_cast<std::size_t>(gpus / nodes_.gpus_per_node),
                             nodes_.gpus_per_node);
  if (const int rest = gpus % nodes_.gpus_per_node; rest > 0) placement.push_back(rest);
  const BatchSplit split = split_batch(job.job->batch, gpus, rules().fits(app, 0, placement),
                                       app.most_batch(), gpus == 1);
  at->second = app.table(0).at(placement, static_cast<double>(split.local)).with(split.passes);
  return at->second;
}

double PolluxOptimus::gain(const LoopJob& job, int gpus, int free) {
  if (free <= 0 || gpus + 1 > max_gpus(job)) return 0;
  return (iteration(job, gpus) - iteration(job, gpus + 1)) * remaining(job);
}

std::vector<int> PolluxOptimus::sizes(std::span<LoopJob* const> active) {
  std::vector<int> gpus;
  std::vector<double> gains;
  int free = nodes_.nodes * nodes_.gpus_per_node;
  for (const LoopJob* job : active) {
    gpus.push_back(free > 0 ? 1 : 0);
    free -= gpus.back();
    gains.push_back(gpus.back() > 0 ? gain(*job, 1, free) : 0);
  }
  while (free > 0) {
    const auto best = static_cast<std::size_t>(std::ranges::max_element(gains) - gains.begin());
    if (gains[best] <= 0) break;
    ++gpus[best];
    --free;
    gains[best] = gain(*active[best], gpus[best], free);
  }
  return gpus;
}

std::vector<LoopGrant> PolluxOptimus::decide(double /*now*/, std::span<LoopJob* const> active) {
  const std::vector<int> gpus = sizes(active);
  std::vector<LoopGrant> grants(active.size());
  std::vector<std::size_t> placed;
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (gpus[i] == active[i]->gpus()) {
      grants[i] = active[i]->held;
    } else {
      placed.push_back(i);
    }
  }
  std::ranges::stable_sort(placed, {}, [&](std::size_t i) { return gpus[i]; });
  std::vector<int> free = free_beside(grants, nodes_);
  for (const std::size_t i : placed) {
    if (gpus[i] > 0) grants[i] = {0, take_most_free(free, gpus[i])};
  }
  return grants;
}

}  // namespace rubato::sim
