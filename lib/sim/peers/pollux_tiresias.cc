// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/pollux_tiresias.h"

#include <algorithm>

namespace rubato::sim {

std::vector<LoopGrant> PolluxTiresias::decide(double /*now*/, std::span<LoopJob* const> active) {
  std::map<const LoopJob*, std::size_t> index;
  for (std::size_t i = 0; i < active.size(); ++i) index[active[i]] = i;
  for (auto& queue : queues_) {
    queue.remove_if([&](const LoopJob* job) { return !index.contains(job); });
  }
  for (const LoopJob* job : active) {
    const auto [served, is_new] = served_.try_emplace(job, 0);
    if (is_new) queues_[0].push_back(job);
    if (job->gpus() > 0) served->second += period();
    if (served->second * job->job->gpus < kLimit) continue;
    if (queues_[0].remove(job) > 0) queues_[1].push_back(job);
  }
  std::vector<LoopGrant> grants(active.size());
  std::vector<std::size_t> chosen;
  int left = nodes_.nodes * nodes_.gpus_per_node;
  for (const auto& queue : queues_) {
    for (const LoopJob* job : queue) {
      if (job->job->gpus > left) continue;  // a later, smaller one may still run
      left -= job->job->gpus;
      chosen.push_back(index.at(job));
      grants[chosen.back()] = job->held;
    }
  }
  std::vector<int> free = free_beside(grants, nodes_);
  for (const std::size_t i : chosen) {
    if (!grants[i].type.valid()) grants[i] = {0, take_most_free(free, active[i]->job->gpus)};
  }
  return grants;
}

}  // namespace rubato::sim
