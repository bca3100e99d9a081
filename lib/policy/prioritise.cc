// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/prioritise.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "lib/policy/algorithms/bands.h"

namespace rubato {
namespace {

auto place_in_order(const Job& job) {
  return std::tie(job.rank, job.key, job.partition, job.reservation);
}

int level_of(const std::vector<Service>& service, const JobKey& job) {
  const Service* const found = service_of(service, job);
  return found != nullptr ? found->level : 0;
}

int class_of(const std::vector<JobNeed>& needs, const JobKey& job) {
  const JobNeed* const found = need_of(needs, job);
  return found != nullptr ? found->size_class : 0;
}

}  // namespace

QueueOrder prioritise(const Snapshot& snapshot, const Config& config,
                      const std::vector<Service>& service, const std::vector<JobNeed>& needs) {
  QueueOrder order;
  for (const Job& job : snapshot.jobs) {
    if (job.state == JobState::kPending) order.push_back(&job);
  }
  std::stable_sort(order.begin(), order.end(), [](const Job* a, const Job* b) {
    return place_in_order(*a) < place_in_order(*b);
  });
  if (config.off(Mechanism::kLevels)) return order;

  const Bands bands(order, config);
  // The places of the jobs that may change places with each other, in ascending order.
  std::map<std::pair<int, double>, std::vector<std::size_t>> classes;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i]->managed && !order[i]->priority_set)
      classes[{order[i]->tier, bands.of(*order[i])}].push_back(i);
  }
  for (const auto& [unused, places] : classes) {
    std::vector<std::pair<std::pair<int, int>, const Job*>> jobs;
    jobs.reserve(places.size());
    for (const std::size_t place : places) {
      const JobKey& key = order[place]->key;
      jobs.emplace_back(std::pair(level_of(service, key), class_of(needs, key)), order[place]);
    }
    std::stable_sort(jobs.begin(), jobs.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < places.size(); ++i) order[places[i]] = jobs[i].second;
  }
  return order;
}

}  // namespace rubato
