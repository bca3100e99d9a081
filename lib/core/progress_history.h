// SPDX-License-Identifier: GPL-2.0-or-later
// Forecasts of the remaining time of a running job, and how good they were.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/units.h"

namespace rubato {

/// A forecast of a job.
struct ProgressForecast {
  Seconds time = 0;
  std::int64_t samples = 0;  ///< efficient samples done by then
  double left = -1;          ///< forecast of the remaining seconds; below 0: none

  bool operator==(const ProgressForecast&) const = default;
};

/// The loss after a number of samples: the mean of `count` reports near it.
struct LossPoint {
  double samples =
      0;  ///< since the first start of the job; an epoch is any fixed number of samples
  double loss = 0;
  int count = 1;

  bool operator==(const LossPoint&) const = default;
};

/// The forecasts of a job. They are kept over restarts of slurmctld and of the job.
struct ProgressHistory {
  JobKey job;
  int restarts = 0;   ///< number of the run that `points` belong to
  int gpus = 0;       ///< GPUs of the run
  Seconds start = 0;  ///< start of the run
  Seconds updated = 0;
  std::vector<ProgressForecast> points;  ///< oldest first
  std::vector<LossPoint> losses;         ///< only for jobs with a target loss; sorted by samples
  double total = 0;                      ///< total samples; 0: not known
  double total_low = 0;                  ///< interval of `total`, if it is forecast from the loss
  double total_high = 0;
  double left = -1;  ///< remaining seconds at `updated`; below 0: not known
  double left_low = -1;
  double left_high = -1;
  int scored = 0;            ///< number of recent forecasts that could be checked
  double quality = 0;        ///< 1 minus the median of their relative errors, at least 0
  bool due = false;          ///< its forecasts are good enough
  bool predictable = false;  ///< rounds use the forecasts: `due` since the last full round

  bool operator==(const ProgressHistory&) const = default;
};

/// Forecast quality of the finished jobs of one profile.
struct TypePredictability {
  std::string account;  ///< "" if all accounts share the profile
  std::string job_type;
  int jobs = 0;        ///< finished jobs with checked forecasts
  double quality = 0;  ///< mean, with more weight for recent jobs
  bool predictable = true;
  Seconds updated = 0;

  bool operator==(const TypePredictability&) const = default;
};

/// Mean gradient noise of a profile's jobs after a number of efficient samples.
struct NoisePoint {
  int doublings = 0;  ///< floor of log2(1 + efficient samples done)
  double noise = 0;   ///< samples
  int reports = 0;

  bool operator==(const NoisePoint&) const = default;
};

/// How gradient noise grows while jobs of a profile train.
struct ProfileNoise {
  std::string account;  ///< "" if all accounts share the profile
  std::string job_type;
  Seconds updated = 0;
  std::vector<NoisePoint> points{};  ///< sorted by doublings, each once

  bool operator==(const ProfileNoise&) const = default;
};

/// The work that a job did until its end.
struct EndedWork {
  double samples = 0;  ///< efficient samples, above 0

  bool operator==(const EndedWork&) const = default;
};

/// The work of a profile's last ended jobs.
struct ProfileWork {
  std::string account;  ///< "" if all accounts share the profile
  std::string job_type;
  Seconds updated = 0;
  std::vector<EndedWork> ended{};  ///< in the order of their ends

  bool operator==(const ProfileWork&) const = default;
};

/// What an ended job did of the work that its hints state.
struct EndedStatement {
  double ratio = 0;  ///< done / stated, above 0

  bool operator==(const EndedStatement&) const = default;
};

/// How the statements of an account's last ended jobs held.
struct AccountStatements {
  std::string account;
  Seconds updated = 0;
  std::vector<EndedStatement> ended{};  ///< in the order of their ends

  bool operator==(const AccountStatements&) const = default;
};

}  // namespace rubato
