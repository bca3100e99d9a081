// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/store.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <thread>
#include <utility>

#include "lib/store/store_worker.h"

namespace rubato::store {
namespace {

/// slurmctld handles signals in a thread of its own: none must be delivered to a thread made here.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

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
    : shared_(std::make_shared<Shared>(std::move(options), std::move(clock))) {
  try {
    const SignalsBlocked blocked;
    // Detached from the start: whether it ended is known from `ended`, and nobody ever joins.
    std::thread([shared = shared_] { Worker(shared).run(); }).detach();
  } catch (const std::system_error& error) {
    const std::lock_guard lock(shared_->mutex);
    shared_->stats.state = StoreState::kOff;
    shared_->stats.trouble = fmt::format("no thread for the store: {}", error.what());
    shared_->messages.push_back({"running without the store: " + shared_->stats.trouble, true});
    shared_->stopping = shared_->ended = true;
  }
}

Store::~Store() { stop(); }

bool Store::push(AnyRecord entry) {
  bool wake = false;
  {
    const std::lock_guard lock(shared_->mutex);
    Shared& s = *shared_;
    if (s.stopping || s.queue.size() >= s.options.queue_capacity) {
      ++s.stats.dropped;
      return false;
    }
    if (s.queue.empty()) s.first_at = Steady::now();
    s.queue.push_back(std::move(entry));  // within what was reserved: no memory is asked for
    ++s.stats.accepted;
    wake = s.queue.size() == 1 || s.queue.size() == s.options.batch_size;
  }
  if (wake) shared_->work.notify_one();
  return true;
}

StoreStats Store::stats() const {
  const std::lock_guard lock(shared_->mutex);
  StoreStats stats = shared_->stats;
  stats.waiting = stats.accepted - stats.written - stats.rejected - stats.lost;
  return stats;
}

std::vector<StoreMessage> Store::take_messages() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->messages, {});
}

void Store::request_copy(std::string path, unsigned mode) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->copy.emplace(std::move(path), mode);
  }
  shared_->work.notify_one();
}

bool Store::flush(std::chrono::milliseconds at_most) {
  std::unique_lock lock(shared_->mutex);
  Shared& s = *shared_;
  const std::int64_t target = s.stats.accepted;
  const auto settled = [&] { return s.stats.written + s.stats.rejected >= target; };
  s.hurry = true;
  s.work.notify_one();
  s.done.wait_for(lock, at_most, [&] { return settled() || s.ended; });
  return settled();
}

bool Store::stop(std::chrono::milliseconds at_most) {
  std::unique_lock lock(shared_->mutex);
  Shared& s = *shared_;
  if (s.stopping) return s.ended;
  s.stopping = true;
  s.work.notify_one();
  if (s.done.wait_for(lock, at_most, [&] { return s.ended; })) return true;
  s.stats.state = StoreState::kAbandoned;
  return false;
}

}  // namespace rubato::store
