// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/prioritise.h"

#include <algorithm>
#include <tuple>

namespace rubato {
namespace {

auto place_in_order(const Job& job) {
  return std::tie(job.rank, job.key, job.partition, job.reservation);
}

}  // namespace

std::vector<const Job*> prioritise(const Snapshot& snapshot) {
  std::vector<const Job*> order;
  for (const Job& job : snapshot.jobs) {
    if (job.state == JobState::kPending) order.push_back(&job);
  }
  std::stable_sort(order.begin(), order.end(), [](const Job* a, const Job* b) {
    return place_in_order(*a) < place_in_order(*b);
  });
  return order;
}

}  // namespace rubato
