// SPDX-License-Identifier: GPL-2.0-or-later
// The time a job still needs, from its reports, and whether its forecasts can be trusted.
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
  std::int64_t samples = 0;  ///< done since the job began
  double throughput = 0;     ///< samples/s as the job says
  std::int64_t batch = 0;
  std::optional<double> loss = {};
  int restarts = 0;
  int gpus = 0;
  Seconds start = 0;  ///< of the run
};

struct PredictabilityRules {
  double promote = 0.5;  ///< quality at which a job becomes predictable
  double demote = 0.3;   ///< below which it is not any more
  int min_scored = 3;    ///< forecasts that must have come true or not before either
  int window = 5;        ///< last forecasts that count
};

/// Adds a report to the progress history of a job whose work is `work`. Never fails: an invalid
/// report makes the forecasts bad, and the job unpredictable.
///
/// Throughput is samples done over wall time, and the reported value while there is
/// little of that. A forecast is made at most every 5 to 60 seconds and judged from 5 seconds on:
/// the share of the work done since, against the time it took, says how long the whole takes;
/// the error is relative to that. A job that is unpredictable is `due` for promotion at once, and
/// promoted by promote_all(); it is demoted at once. Another run, or another number of GPUs, begins
/// new forecasts; the class stays until they are judged.
void follow(ProgressHistory& progress_history, const ProgressReport& report,
            const std::optional<Work>& work, const PredictabilityRules& rules = {});

/// In a full round, before it: jobs that are due become predictable. A promotion changes the order
/// of jobs by leaps, so light rounds leave the classes alone.
void promote_all(std::vector<ProgressHistory>& progress_histories);

/// The course of `job`, which is made if there is none. After a requeue a job has another key; it
/// keeps what it had. `progress_histories` is sorted by key and stays so.
ProgressHistory& progress_history_for(std::vector<ProgressHistory>& progress_histories,
                                      const JobKey& job, int restarts);

/// A job that ended, into the record of its profile. Those judged too little change nothing. At
/// most kMaxTypeHistories are kept; the one that is oldest goes.
inline constexpr std::size_t kMaxTypeHistories = 256;
void ended(const ProgressHistory& progress_history, const std::string& account,
           const std::string& job_type, Seconds now, std::vector<TypePredictability>& types,
           const PredictabilityRules& rules = {});

}  // namespace rubato
