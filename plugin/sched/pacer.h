// SPDX-License-Identifier: GPL-2.0-or-later
// When the loop runs its next cycle.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <optional>

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/runtime/pace.h"

namespace rubato {

/// Why the loop's wait ended.
enum class WakeReason {
  kNothing,  ///< only the heartbeat is due
  kEvent,    ///< wake(): a job came, or resources became free
  kPeek,     ///< nodes are completing: look whether that has changed
  kTick,     ///< RoundInterval is over
};

/// Waits for events and ticks, and stops the loop. wake(), stop() and stopping() are safe from any
/// thread; the loop's thread calls the others.
class Pacer {
 public:
  explicit Pacer(std::shared_ptr<const Clock> clock) : clock_(std::move(clock)) {}

  void wake() noexcept;
  void stop() noexcept;
  [[nodiscard]] bool stopping() const noexcept { return stopping_; }

  /// Waits for the next event, peek or tick, 500 ms at most, 20 ms if `soon`. `round_interval` is
  /// in seconds.
  [[nodiscard]] WakeReason wait(double round_interval, bool soon = false);
  /// When the event came that the last wait() returned for; empty without one.
  [[nodiscard]] std::optional<SteadyTime> event() const { return event_; }

  /// After a cycle whose round took `took`, and that held slurmctld's locks for `held` in all.
  void cycle_ended(SteadyDuration held, SteadyDuration took) {
    pace_.ended(clock_->steady(), held, took);
  }
  /// After a round: whether nodes are completing and jobs wait for them, so that peeks are due.
  void round_ended(bool completing);
  /// A peek found nothing new: the next one comes later.
  void peek_later();

  /// Lets requests that slurmctld is serving go first, for `longest` at most.
  void wait_for_quiet(SteadyDuration longest) const;
  /// Blocks for `seconds`, or until stop().
  void sleep(double seconds) const;

 private:
  const std::shared_ptr<const Clock> clock_;
  Pace pace_;
  SteadyTime last_tick_{};
  SteadyTime last_peek_{};
  bool completing_ = false;  ///< peeks are due
  SteadyDuration completing_wait_{};
  std::optional<SteadyTime> event_;

  Mutex mutex_;
  std::condition_variable changed_;
  bool woken_ RUBATO_GUARDED_BY(mutex_) = false;
  SteadyTime woken_at_ RUBATO_GUARDED_BY(mutex_){};
  std::atomic<bool> stopping_{false};
};

}  // namespace rubato
