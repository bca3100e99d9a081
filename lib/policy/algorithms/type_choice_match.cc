// SPDX-License-Identifier: GPL-2.0-or-later
// Matches all candidates to types together, and counts who waits for which.
#include <algorithm>
#include <map>
#include <utility>

#include "lib/base/statistics.h"
#include "lib/policy/algorithms/assign.h"
#include "lib/policy/algorithms/forecast.h"
#include "lib/policy/algorithms/type_chooser.h"

namespace rubato {
namespace {

bool holds_gpus(const Job& job) {
  return job.state == JobState::kRunning &&
         std::any_of(job.allocation.begin(), job.allocation.end(),
                     [](const NodeShare& share) { return !share.gpus.empty(); });
}

}  // namespace

double TypeChooser::best_speed(const MatchCandidate& candidate) {
  double best = 0;
  for (std::size_t type = 0; type < candidate.group.size(); ++type) {
    if (candidate.group[type] >= 0) best = std::max(best, candidate.choice.speed[type]);
  }
  return best > 0 ? best : 1;
}

double TypeChooser::usual_seconds() const {
  std::vector<double> known;
  for (const MatchCandidate& candidate : candidates_) {
    if (candidate.known && candidate.left) known.push_back(*candidate.left / best_speed(candidate));
  }
  if (!known.empty()) return upper_median(std::move(known));
  double seconds = 0;
  int running = 0;
  for (const Job& job : input_.snapshot.jobs) {
    if (!holds_gpus(job)) continue;
    seconds += static_cast<double>(input_.now - job.start) +
               seconds_left(input_.snapshot, job, input_.models.forecasts(), input_.now);
    ++running;
  }
  return running > 0 ? seconds / running : kUsualSeconds;
}

void TypeChooser::match_all() {
  usual_ = usual_seconds();
  lines_.emplace(pools_of(input_, capacity_));
  std::vector<Contender> contenders;
  for (MatchCandidate& candidate : candidates_) {
    const bool told = candidate.known && candidate.left;
    candidate.work = told ? *candidate.left : usual_ * best_speed(candidate);
    contenders.push_back(contender_of(candidate));
  }
  std::vector<TypePool> pools;
  pools.reserve(types_);
  for (const TypeId type : indices<TypeId>(types_)) {
    pools.push_back({lines_->pool(type).gpus, lines_->pool(type).busy()});
  }
  const std::vector<TypeMatch> matches = match(contenders, pools);
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (matches[i].pool >= 0) candidates_[i].choice.matched = TypeId{matches[i].pool};
  }
  fill_queues();
}

Contender TypeChooser::contender_of(const MatchCandidate& candidate) const {
  Contender contender;
  for (const TypeId type : indices<TypeId>(types_)) {
    const bool can = candidate.group[type] >= 0;
    const double seconds = can ? candidate.seconds_at(candidate.choice.speed[type]) : kForbidden;
    contender.seconds.push_back(seconds);
    contender.gpus.push_back(candidate.gpus);
  }
  return contender;
}

void TypeChooser::fill_queues() {
  std::map<JobKey, QueuePosition> places;  // a job may stand in the queue once for each partition
  auto next = candidates_.begin();
  for (const PendingEntry& entry : queue_.entries) {
    const bool seeks = next != candidates_.end() && next->entry == &entry;
    MatchCandidate* const candidate = seeks ? &*next++ : nullptr;
    if (entry.demand.wants_gpus() && entry.job->block == Block::kNone) {
      const auto [found, fresh] = places.try_emplace(entry.job->key);
      if (fresh) found->second = enqueue(entry, candidate);
      if (candidate != nullptr) candidate->queue_position = found->second;
    }
  }
}

QueuePosition TypeChooser::enqueue(const PendingEntry& entry, const MatchCandidate* candidate) {
  const TypeId type = candidate != nullptr ? type_of(*candidate) : type_asked(*entry.job);
  if (!type.valid()) return {};
  const double seconds =
      candidate != nullptr ? candidate->seconds_at(candidate->choice.speed[type]) : usual_;
  return lines_->enqueue(type, static_cast<double>(std::max<std::int64_t>(entry.demand.total(), 1)),
                         seconds);
}

TypeId TypeChooser::type_of(const MatchCandidate& candidate) const {
  if (candidate.matched()) return candidate.choice.matched;
  TypeId best = kNoGpu;
  for (const TypeId type : indices<TypeId>(types_)) {
    if (candidate.group[type] < 0) continue;
    const std::vector<double>& speed = candidate.choice.speed;
    if (!best.valid() || speed[type] > speed[best]) best = type;
  }
  return best;
}

TypeId TypeChooser::type_asked(const Job& job) const {
  return job.request.gpu_type.empty() ? kNoGpu : capacity_.type_id(job.request.gpu_type);
}

}  // namespace rubato
