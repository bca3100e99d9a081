// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/pacer.h"

#include <algorithm>
#include <chrono>

#include "plugin/slurm/stock/controller.h"

namespace rubato {

namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

// The heartbeat does not depend on the length of RoundInterval.
constexpr auto kMaxWait = milliseconds(500);
constexpr auto kSoon = milliseconds(20);
// No event reports the end of an epilog, and its node takes jobs only then. Most end at once, some
// take longer: the distance between peeks grows.
constexpr auto kFirstCompletingWait = milliseconds(5);
constexpr auto kLastCompletingWait = milliseconds(100);
constexpr auto kQuietStep = std::chrono::microseconds(200);
constexpr auto kSleepStep = milliseconds(20);

}  // namespace

void Pacer::wake() noexcept {
  const MutexLock lock(mutex_);
  if (!woken_) woken_at_ = clock_->steady();
  woken_ = true;
  changed_.notify_all();
}

void Pacer::stop() noexcept {
  stopping_ = true;
  const MutexLock lock(mutex_);
  changed_.notify_all();
}

WakeReason Pacer::wait(double round_interval, bool soon) {
  MutexLock lock(mutex_);
  const SteadyTime tick =
      std::max(last_tick_ + duration_cast<SteadyDuration>(duration<double>(round_interval)),
               pace_.earliest());
  const SteadyTime due = completing_ ? std::min(tick, last_peek_ + completing_wait_) : tick;
  const SteadyTime until = std::min(due, clock_->steady() + (soon ? kSoon : kMaxWait));
  while (!woken_ && !stopping_ && clock_->steady() < until)
    clock_->wait_until(changed_, lock, until);
  event_.reset();
  if (woken_ && !stopping_) {
    const SteadyTime earliest = pace_.earliest(woken_at_);
    while (!stopping_ && clock_->steady() < earliest) clock_->wait_until(changed_, lock, earliest);
    woken_ = false;
    event_ = woken_at_;
    return WakeReason::kEvent;
  }
  const SteadyTime now = clock_->steady();
  if (now < due) return WakeReason::kNothing;
  last_peek_ = now;
  if (now < tick) return WakeReason::kPeek;
  last_tick_ = now;
  return WakeReason::kTick;
}

void Pacer::round_ended(bool completing) {
  completing_ = completing;
  if (event_)
    completing_wait_ = kFirstCompletingWait;
  else
    peek_later();
}

void Pacer::peek_later() {
  completing_wait_ = std::min<SteadyDuration>(2 * completing_wait_, kLastCompletingWait);
}

void Pacer::wait_for_quiet(SteadyDuration longest) const {
  const SteadyTime until = clock_->steady() + longest;
  while (!quiet() && !stopping_ && clock_->steady() < until) clock_->sleep_for(kQuietStep);
}

void Pacer::sleep(double seconds) const {
  const SteadyTime until =
      clock_->steady() + duration_cast<SteadyDuration>(duration<double>(std::max(seconds, 0.0)));
  while (!stopping_ && clock_->steady() < until) clock_->sleep_for(kSleepStep);
}

}  // namespace rubato
