// SPDX-License-Identifier: GPL-2.0-or-later
// The time of day and the steady time, handed in by the caller.
#pragma once

#include <chrono>
#include <condition_variable>
#include <ctime>
#include <thread>

#include "lib/base/mutex.h"
#include "lib/base/units.h"

namespace rubato {

/// A point of the steady time, for intervals and deadlines. The default value is long past.
using SteadyTime = std::chrono::steady_clock::time_point;
using SteadyDuration = std::chrono::steady_clock::duration;

/// All calls are safe from any thread. A test sets both times; the steady time of this class is the
/// machine's.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  /// Unix seconds.
  [[nodiscard]] virtual Seconds now() const = 0;
  [[nodiscard]] virtual SteadyTime steady() const { return std::chrono::steady_clock::now(); }
  /// Waits until `changed` is notified or the steady time is `until`. May return earlier.
  virtual void wait_until(std::condition_variable& changed, MutexLock& lock,
                          SteadyTime until) const {
    changed.wait_until(lock.native(), until);
  }
  /// Blocks the calling thread for `duration` of the steady time.
  virtual void sleep_for(SteadyDuration duration) const { std::this_thread::sleep_for(duration); }
};

/// The clock of the machine.
class SystemClock : public Clock {
 public:
  [[nodiscard]] Seconds now() const override { return std::time(nullptr); }
};

/// Seconds of the steady time from `since` to now.
[[nodiscard]] inline double seconds_since(const Clock& clock, SteadyTime since) {
  return std::chrono::duration<double>(clock.steady() - since).count();
}

}  // namespace rubato
