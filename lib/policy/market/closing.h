// SPDX-License-Identifier: GPL-2.0-or-later
// How likely it is that no further job arrives before all present ones have ended, and what that
// changes. Then the makespan counts: who ends last decides when all have ended.
#pragma once

#include <cstddef>
#include <vector>

#include "lib/base/units.h"

namespace rubato {

/// Number of arrivals that give the arrival rate; jobs that arrive together count as one.
inline constexpr std::size_t kArrivalsCounted = 8;
/// How much the longest jobs gain while a queue closes.
inline constexpr double kClosingUrgency = 2;

/// A queue that may be closing.
struct Closing {
  double chance = 0;  ///< that no further job arrives
  double drain = 0;   ///< seconds until all present jobs could have ended
};

/// `drain` must be above 0. `arrivals`: the last times of arrival, ascending, each once; at most
/// kArrivalsCounted + 1 count. With the first of all arrivals alone, half an arrival is expected in
/// the time that its jobs take in all.
[[nodiscard]] Closing closing_of(const std::vector<Seconds>& arrivals, Seconds now, double drain);

/// The power of a rank in the value of a job (rank_values()): `power`, less if the queue is
/// closing, since a sum of throughputs ends all jobs the soonest.
[[nodiscard]] double closing_power(const Closing& closing, double power);

/// Factor on the value of a job that takes `seconds` at its fastest: the nearer that comes to the
/// drain, the less the job can wait. At least 1.
[[nodiscard]] double closing_urgency(const Closing& closing, double seconds);

}  // namespace rubato
