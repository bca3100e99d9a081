// SPDX-License-Identifier: GPL-2.0-or-later
// A clock that a test sets.
#pragma once

#include <chrono>
#include <condition_variable>

#include "lib/base/clock.h"
#include "lib/base/mutex.h"

namespace rubato::test {

/// Both times only change in advance(). Waits end when a test advances the clock far enough.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(Seconds now = 1'800'000'000) : now_(now) {}

  [[nodiscard]] Seconds now() const override {
    const MutexLock lock(mutex_);
    return now_ + std::chrono::duration_cast<std::chrono::seconds>(passed_).count();
  }
  [[nodiscard]] SteadyTime steady() const override {
    const MutexLock lock(mutex_);
    return SteadyTime(std::chrono::hours(1)) + passed_;
  }
  void wait_until(std::condition_variable& changed, MutexLock& lock,
                  SteadyTime until) const override {
    // The condition variable belongs to the caller, so the clock polls its own time.
    if (steady() < until) changed.wait_for(lock.native(), std::chrono::milliseconds(1));
  }
  void sleep_for(SteadyDuration duration) const override {
    const SteadyTime until = steady() + duration;
    MutexLock lock(mutex_);
    while (SteadyTime(std::chrono::hours(1)) + passed_ < until) advanced_.wait(lock.native());
  }

  void advance(SteadyDuration duration) {
    const MutexLock lock(mutex_);
    passed_ += duration;
    advanced_.notify_all();
  }

 private:
  const Seconds now_;
  mutable Mutex mutex_;
  mutable std::condition_variable advanced_;
  SteadyDuration passed_ RUBATO_GUARDED_BY(mutex_){};
};

}  // namespace rubato::test
