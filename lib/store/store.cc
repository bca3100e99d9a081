// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/store.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "lib/store/store_worker.h"

namespace rubato::store {

const char* to_string(StoreState state) {
  switch (state) {
    case StoreState::kStarting:
      return "starting";
    case StoreState::kReady:
      return "ready";
    case StoreState::kOff:
      return "off";
    case StoreState::kStopped:
      return "stopped";
    case StoreState::kAbandoned:
      return "abandoned";
  }
  return "unknown";
}

Store::Store(StoreOptions options, std::shared_ptr<const Clock> clock)
    : shared_(std::make_shared<Shared>(std::move(options), std::move(clock))),
      thread_(std::make_unique<BackgroundThread>(ThreadOptions{.name = "rubato_store"},
                                                 [shared = shared_] { Worker(shared).run(); })) {}

Store::~Store() { stop(); }

bool Store::push(AnyRecord entry) {
  bool wake = false;
  {
    Shared& s = *shared_;
    const MutexLock lock(s.mutex);
    if (s.stopping || s.queue.size() >= s.options.queue_capacity) {
      ++s.stats.dropped;
      return false;
    }
    if (s.queue.empty()) s.first_at = s.clock->steady();
    s.queue.push_back(std::move(entry));  // within the reserved capacity: allocates nothing
    ++s.stats.accepted;
    wake = s.queue.size() == 1 || s.queue.size() == s.options.batch_size;
  }
  if (wake) shared_->work.notify_one();
  return true;
}

StoreStats Store::stats() const {
  const MutexLock lock(shared_->mutex);
  StoreStats stats = shared_->stats;
  stats.waiting = stats.accepted - stats.written - stats.rejected - stats.lost;
  return stats;
}

std::vector<StoreMessage> Store::take_messages() {
  const MutexLock lock(shared_->mutex);
  return std::exchange(shared_->messages, {});
}

void Store::request_copy(std::string path, unsigned mode) {
  {
    const MutexLock lock(shared_->mutex);
    shared_->copy.emplace(std::move(path), mode);
  }
  shared_->work.notify_one();
}

bool Store::flush(std::chrono::milliseconds at_most) {
  Shared& s = *shared_;
  const SteadyTime deadline = s.clock->steady() + at_most;
  MutexLock lock(s.mutex);
  const std::int64_t target = s.stats.accepted;
  s.hurry = true;
  s.work.notify_one();
  while (s.stats.written + s.stats.rejected < target && !s.ended && s.clock->steady() < deadline)
    s.clock->wait_until(s.done, lock, deadline);
  return s.stats.written + s.stats.rejected >= target;
}

bool Store::stop(std::chrono::milliseconds at_most) {
  Shared& s = *shared_;
  const SteadyTime deadline = s.clock->steady() + at_most;
  MutexLock lock(s.mutex);
  if (s.stopping) return s.ended;
  s.stopping = true;
  s.work.notify_one();
  while (!s.ended && s.clock->steady() < deadline) s.clock->wait_until(s.done, lock, deadline);
  if (s.ended) return true;
  s.stats.state = StoreState::kAbandoned;
  return false;
}

}  // namespace rubato::store
