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
/// In a queue that closes a job gains by (1 - s^kClosingLate)^-kClosingUrgency, where s is the
/// share of its time to wait that is over. Sweep: docs/results/elastic.md.
inline constexpr double kClosingUrgency = 2;
inline constexpr double kClosingLate = 4;

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

/// A job of a closing queue. Times in seconds.
struct ClosingJob {
  double seconds = 0;  ///< until its end, at its fastest
  double held = 0;     ///< in which its GPU-seconds at its fastest would fill all GPUs
  double filled = 0;   ///< the same where it needs the fewest: what the drain has of it
};

/// Factor on the value of a job. All can end by the drain, longer by what the job wastes at its
/// fastest (`held` - `filled`); until then, without `seconds`, it can wait. While it runs at its
/// fastest the others have the rest of the GPUs. The less it can wait, of the time that the others
/// need (drain - `filled`), the larger the factor. At least 1: a job that uses all GPUs at its
/// fastest can always be the last.
[[nodiscard]] double closing_urgency(const Closing& closing, const ClosingJob& job);

}  // namespace rubato
