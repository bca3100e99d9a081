// SPDX-License-Identifier: GPL-2.0-or-later
// How a running job comes along: its own forecasts of the time it still needs, and how they fared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/units.h"

namespace rubato {

/// A forecast that was made of a job.
struct ProgressForecast {
  Seconds time = 0;
  std::int64_t samples = 0;  ///< done by then
  double left = -1;          ///< seconds it was expected to run on; below 0: nothing was foretold

  bool operator==(const ProgressForecast&) const = default;
};

/// The loss after so many samples; the mean of `count` reports near there.
struct LossPoint {
  double samples = 0;  ///< done since the job began; an epoch is any fixed number of them
  double loss = 0;
  int count = 1;

  bool operator==(const LossPoint&) const = default;
};

/// What is kept of a job from report to report. It outlives restarts of slurmctld and of the job.
struct ProgressHistory {
  JobKey job;
  int restarts = 0;   ///< of the run that `points` are of
  int gpus = 0;       ///< that the run holds
  Seconds start = 0;  ///< of the run
  Seconds updated = 0;
  std::vector<ProgressForecast> points;  ///< oldest first
  std::vector<LossPoint> losses;         ///< only of a job whose work is a loss; by samples
  double total = 0;                      ///< samples at its end; 0: not known
  double total_low = 0;                  ///< between which, where a loss foretells it
  double total_high = 0;
  double left = -1;  ///< seconds to its end at `updated`; below 0: not known
  double left_low = -1;
  double left_high = -1;
  int scored = 0;            ///< of its last forecasts that could be compared with what came
  double quality = 0;        ///< 1 minus the median of their relative errors, at least 0
  bool due = false;          ///< its forecasts are good enough
  bool predictable = false;  ///< the rounds count on them: `due`, since the last full round

  bool operator==(const ProgressHistory&) const = default;
};

/// How well the jobs of one profile could be foretold when they ended.
struct TypePredictability {
  std::string account;  ///< "" where all accounts share it
  std::string job_type;
  int jobs = 0;        ///< that ended and were judged
  double quality = 0;  ///< mean, of late ones more
  bool predictable = true;
  Seconds updated = 0;

  bool operator==(const TypePredictability&) const = default;
};

}  // namespace rubato
