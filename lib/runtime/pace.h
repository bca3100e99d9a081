// SPDX-License-Identifier: GPL-2.0-or-later
// How fast the loop follows events.
#pragma once

#include <algorithm>
#include <chrono>

namespace rubato {

/// When the loop may look next, so that a lone event is answered at once and a stream of them
/// leaves slurmctld's locks to others: a burst wakes once, the locks are held a tenth of the time,
/// unless the event has waited for long, and never more than half of it. The loop runs half of the
/// time at most, so its period grows with its rounds.
class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  /// A cycle ended at `end`. Its round took `took`, and it held the locks for `held` in all.
  void ended(Clock::time_point end, Clock::duration held, Clock::duration took) {
    end_ = end;
    held_ = held;
    took_ = std::max(took, held);
  }

  /// Before when not to look for an event that came at `event`.
  [[nodiscard]] Clock::time_point earliest(Clock::time_point event) const {
    const auto gathered = event + kGather;
    const auto rested = std::min(end_ + kRest * held_, event + kMaxRest);
    return std::max({gathered, rested, end_ + took_});
  }
  /// Before when not to look without an event.
  [[nodiscard]] Clock::time_point earliest() const { return end_ + took_; }

  /// A burst of submits wakes once: the first event waits this long for its companions.
  static constexpr std::chrono::milliseconds kGather{5};
  /// What an event waits for the sake of others, at most.
  static constexpr std::chrono::milliseconds kMaxRest{20};
  static constexpr int kRest = 9;

 private:
  Clock::time_point end_{};
  Clock::duration held_{};
  Clock::duration took_{};
};

}  // namespace rubato
