// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/round_size.h"

#include <algorithm>
#include <set>
#include <vector>

namespace rubato {

namespace {

// A round takes longer than in proportion to its jobs: twice the jobs may need four times as long.
constexpr double kSpare = 5;  // a round this many times as fast as its deadline may consider more

}  // namespace

void RoundSize::ended(std::size_t considered, std::size_t waiting, double ms, double deadline_ms) {
  if (ms > deadline_ms) {
    const double share = std::min(0.5, 0.5 * deadline_ms / ms);
    const auto fewer = static_cast<std::size_t>(static_cast<double>(considered) * share);
    limit_ = std::max(kLeast, fewer);
    return;
  }
  if (limit_ == kAll || ms * kSpare > deadline_ms) return;
  limit_ = considered >= waiting ? kAll : 2 * limit_;
}

std::size_t leave_out(Snapshot& snapshot, std::size_t limit) {
  std::vector<Job*> open;
  for (Job& job : snapshot.jobs)
    if (job.state == JobState::kPending && job.block == Block::kNone) open.push_back(&job);
  if (open.size() <= limit) return open.size();
  std::set<JobKey> reserved;
  for (const Reservation& one : snapshot.memory.reservations) reserved.insert(one.job);
  std::sort(open.begin(), open.end(), [](const Job* a, const Job* b) { return a->rank < b->rank; });
  std::size_t considered = limit;
  for (std::size_t i = limit; i < open.size(); ++i) {
    if (reserved.contains(open[i]->key))
      ++considered;
    else
      open[i]->block = Block::kLeftOut;
  }
  return considered;
}

}  // namespace rubato
