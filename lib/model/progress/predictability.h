// SPDX-License-Identifier: GPL-2.0-or-later
// Remaining time of a job, from its reports, and whether its forecasts can be trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/core/progress_history.h"
#include "lib/hints/types.h"

namespace rubato {

/// A report and its run.
struct ProgressReport {
  Seconds time = 0;
  std::int64_t samples = 0;  ///< efficient samples done since the start of the job
  double throughput = 0;     ///< efficient samples/s as reported
  std::int64_t batch = 0;
  std::optional<double> loss = {};
  int restarts = 0;
  int gpus = 0;
  Seconds start = 0;  ///< of the run
  double steps = 0;   ///< iterations done; 0: not counted, all at `batch`
};

struct PredictabilityRules {
  double promote = 0.5;  ///< quality at which a job becomes predictable
  double demote = 0.3;   ///< quality below which it no longer is
  int min_scored = 3;    ///< minimum number of scored forecasts for either
  int window = 5;        ///< number of last forecasts that count
};

/// Adds a report to the progress history of a job whose work is `work`. Never fails: an invalid
/// report makes the forecasts bad, and the job unpredictable.
///
/// Throughput is samples over wall time; for short times it is the reported value. A forecast is
/// made at most every 5 to 60 seconds and scored from an age of 5 seconds on. The share of work
/// done since, against its time, gives the total time; the error is relative to that. A job becomes
/// `due` for promotion immediately; promote_all() promotes it. Demotion is immediate. Another run
/// or GPU count starts new forecasts; the class stays until these are scored.
void follow(ProgressHistory& progress_history, const ProgressReport& report,
            const std::optional<Work>& work, const PredictabilityRules& rules = {});

/// Call before a full round: jobs that are due become predictable. A promotion can move jobs far in
/// the queue, so light rounds do not change classes.
void promote_all(std::vector<ProgressHistory>& progress_histories);

/// The progress history of `job`; makes one if there is none. `progress_histories` is sorted by key
/// and stays so.
ProgressHistory& progress_history_for(std::vector<ProgressHistory>& progress_histories,
                                      const JobKey& job);

/// Adds a job that ended to the history of its profile. Ignores jobs with too few scored forecasts.
/// At most kMaxTypeHistories are kept; the oldest is dropped.
inline constexpr std::size_t kMaxTypeHistories = 256;
void ended(const ProgressHistory& progress_history, const std::string& account,
           const std::string& job_type, Seconds now, std::vector<TypePredictability>& types,
           const PredictabilityRules& rules = {});

}  // namespace rubato
