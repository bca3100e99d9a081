// SPDX-License-Identifier: GPL-2.0-or-later
// What a change of a running job is worth, when the change itself costs time.
#pragma once

namespace rubato {

/// Shortest time that a change is expected to last, in multiples of its cost.
inline constexpr double kMinLife = 3;

/// A running job, as the value of its changes sees it. Times in seconds.
struct ChangeTerms {
  double value = 0;      ///< of its end (rank_values()), above 0
  double held = 0;       ///< until its end if nothing changes, above 0
  double cost = 0;       ///< without progress, of a change to another configuration
  double stop_cost = 0;  ///< without progress, of a stop and the start after it
  double age = 0;        ///< since its arrival
  int restarts = 0;      ///< so far
};

/// Standard deviations by which a forecast has to be faster than the present one to count so.
inline constexpr double kMinGainStddevs = 1;

/// Seconds of progress to count for another configuration than the present one: those forecast, but
/// where it is faster only what is sure. `stddev`: of the difference of the two forecasts, as
/// logarithms. Otherwise jobs would move with each report.
[[nodiscard]] double sure_seconds(double held, double seconds, double stddev);

/// Seconds for which a change of this cost is expected to last: the mean time between the changes
/// so far.
[[nodiscard]] double change_life(const ChangeTerms& job, double cost);

/// The value of a configuration in which the job ends after `seconds` of progress. The cost counts
/// against the time that the change lasts, at most until the end of the job. Pollux, too, discounts
/// a restart by the age of the job over its restarts (Qiao et al., OSDI 2021, section 4.2). 0 if it
/// never pays.
[[nodiscard]] double value_of_change(const ChangeTerms& job, double seconds);

/// The value of holding on to what it has.
[[nodiscard]] double value_of_staying(const ChangeTerms& job);

/// The value of a stop, at most 0: its cost is lost to the other jobs.
[[nodiscard]] double value_of_stopping(const ChangeTerms& job);

}  // namespace rubato
