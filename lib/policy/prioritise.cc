// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/prioritise.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace rubato {
namespace {

constexpr double kAutoBands = 5;

auto place_in_order(const Job& job) {
  return std::tie(job.rank, job.key, job.partition, job.reservation);
}

// PriorityType=priority/basic counts down from here, by one a job (TOP_PRIORITY of
// src/slurmctld/slurmctld.h).
constexpr std::uint32_t kTopPriority = 0xffff0000;

int level_of(const std::vector<Service>& service, const JobKey& job) {
  const Service* const found = service_of(service, job);
  return found != nullptr ? found->level : 0;
}

int class_of(const std::vector<JobNeed>& needs, const JobKey& job) {
  const JobNeed* const found = need_of(needs, job);
  return found != nullptr ? found->size_class : 0;
}

bool counts_for_bands(const Job& job) {
  return job.managed && job.request.wants_gpus() && job.block == Block::kNone &&
         !job.priority_set && !job.niced && job.priority != 0;
}

// A fifth of the span of the priorities. One band where all are equal, or where priorities only
// count submissions.
double automatic_band(const std::vector<const Job*>& jobs) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t most = 0;
  JobId first = std::numeric_limits<JobId>::max();
  JobId last = 0;
  for (const Job* job : jobs) {
    if (!counts_for_bands(*job)) continue;
    least = std::min(least, job->priority);
    most = std::max(most, job->priority);
    first = std::min(first, job->key.id);
    last = std::max(last, job->key.id);
  }
  if (most <= least) return kInfinite;
  const double span = static_cast<double>(most) - least;
  // A job that was held and let go counts again.
  const bool counts = most <= kTopPriority && span <= 2.0 * (last - first + 1) &&
                      static_cast<double>(kTopPriority) - least <= 2.0 * last;
  return counts ? kInfinite : span / kAutoBands;
}

// Bands of priority (PriorityBand). Inside a band the level decides. With `auto` the width follows
// from the priorities of the managed GPU jobs that could start. Jobs whose user or an admin chose
// the priority do not count: a user's nice value must not change the order of other jobs.
class Bands {
 public:
  Bands(const std::vector<const Job*>& pending, const Config& config)
      : width_(config.priority_band) {
    if (width_ < 0) width_ = automatic_band(pending);
  }

  [[nodiscard]] double of(const Job& job) const {
    return width_ == 0 ? job.priority : std::floor(job.priority / width_);
  }

 private:
  double width_;  ///< 0: every priority is a band of its own; infinite: one band
};

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
