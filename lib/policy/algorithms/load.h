// SPDX-License-Identifier: GPL-2.0-or-later
// Stage 4: how much work arrives for the GPUs of each type, and what a second of theirs costs those
// who wait and those who will come.
#pragma once

#include <string>
#include <vector>

#include "lib/core/snapshot.h"

namespace rubato {

/// The load of a GPU type is a mean over about so many mean run times of its jobs: long enough for
/// the arrivals of a few busy periods, and as long for jobs of seconds as for jobs of weeks.
inline constexpr double kLoadSpan = 4;

/// A job that came, or whose need can be told for the first time.
struct LoadArrival {
  std::string gpu_type;
  double jobs = 0;  ///< 1, less where it is shared between types, 0 if it had come before
  double gpus = 0;  ///< that it asks for, times `jobs`
  /// Of what can be told: GPUs, and the GPU-seconds that it needs at that size; 0 otherwise.
  double told_gpus = 0;
  double told_gpu_seconds = 0;
  Seconds since = 0;  ///< when it came
};

/// `loads` brought forward to `now`, with `arrivals` counted. Sorted by GPU type. A type that is
/// new counts from the first of its arrivals. The order of `arrivals` decides nothing.
[[nodiscard]] std::vector<TypeLoad> update_loads(std::vector<TypeLoad> loads,
                                                 std::vector<LoadArrival> arrivals, Seconds now);

/// What arrives for the GPUs of one type. All 0: nothing is known.
struct PoolLoad {
  double jobs = 0;     ///< a second
  double need = 0;     ///< GPU-seconds of a job
  double gpus = 0;     ///< of a job
  double seconds = 0;  ///< its run time
  double load = 0;     ///< GPU-seconds that arrive in a second, as a share of the GPUs
  double error = 0;    ///< standard error of `load`: so many Poisson arrivals of exponential needs
  double span = 0;     ///< seconds over which that was seen
};

/// For a type with so many GPUs.
[[nodiscard]] PoolLoad load_of(const std::vector<TypeLoad>& loads, const std::string& gpu_type,
                               int gpus, Seconds now);

/// Jobs that wait for GPUs of one type.
struct WaitingJobs {
  int jobs = 0;
  double gpus = 0;         ///< that they ask for
  double gpu_seconds = 0;  ///< that they need
};

/// The GPUs of one type, and who holds them.
struct PoolState {
  int gpus = 0;
  PoolLoad load;

  /// Adds what a running job holds, for so many more seconds.
  void add_held(double held_gpus, double seconds);
  /// Call once all were added.
  void finish_holds();
  [[nodiscard]] double busy() const { return busy_; }  ///< GPU-seconds until all have ended
  /// GPUs that those who run now will still hold after so many seconds.
  [[nodiscard]] double held_after(double seconds) const;
  /// Seconds until so many GPUs are not held any more; until all have ended if there are fewer.
  [[nodiscard]] double seconds_until_free(double wanted) const;

 private:
  struct Held {
    double seconds = 0;
    double gpus = 0;
    double later = 0;  ///< GPUs of all that end later
  };
  std::vector<Held> held_;
  double held_gpus_ = 0;
  double busy_ = 0;
};

/// The probability that jobs which come while a job holds `gpus` for `seconds` find too few GPUs
/// free, 0 to 1. What runs and what waits is taken as known. What comes holds GPUs as if there were
/// enough of them for all (the offered load of Jennings, Mandelbaum, Massey & Whitt, Management
/// Science 42, 1996), with the variance of a Poisson process.
[[nodiscard]] double chance_of_wait(const PoolState& pool, const WaitingJobs& others, double gpus,
                                    double seconds);

/// How many jobs that have not come yet would start a second later, for each second that all GPUs
/// of the type are held. In an M/G/1 queue each second of service delays those who come before the
/// queue has next been empty: with work V ahead these are lambda V / (1 - rho), and while the job
/// itself runs, on average half of its own time lies ahead (Haviv & Ritov, Management Science 44,
/// 1998). Here the pool is that server while all of its GPUs are held, V is what waits, one job,
/// and half of what this one needs, and the whole counts with the probability that they are held.
/// A load at or above 1 has no such end: it is taken to last for as long as it was seen.
[[nodiscard]] double delayed_to_come(const PoolState& pool, const WaitingJobs& others, double gpus,
                                     double seconds);

}  // namespace rubato
