// SPDX-License-Identifier: GPL-2.0-or-later
// Counterfactual estimate of mode place. Replays recorded jobs through round() on the current
// nodes, and compares simulated with recorded waiting times.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "lib/model/models.h"

namespace rubato {

/// A recorded run, as in the store.
struct RecordedRun {
  JobKey job;
  Seconds start = 0;
  Seconds enters = 0;  ///< time from which Slurm would have let it start
  Seconds end = 0;     ///< 0: it had not ended when this was written
  std::string text;    ///< sim::run_text
};

/// Means over the compared jobs, in seconds.
struct CounterfactualSide {
  double wait = 0;  ///< from eligible to start
  double jct = 0;   ///< from eligible to end

  bool operator==(const CounterfactualSide&) const = default;
};

struct CounterfactualEstimate {
  Seconds from = 0;
  Seconds until = 0;
  std::int64_t runs = 0;      ///< that were running or started in this period
  std::int64_t compared = 0;  ///< of managed jobs, started in it in mode observe, and ended
  std::int64_t beside = 0;    ///< of other jobs, replayed too
  std::int64_t moved = 0;     ///< compared runs on another GPU type or at another size
  std::int64_t rescaled = 0;  ///< moved runs whose run time a measured profile changed
  CounterfactualSide observed;
  CounterfactualSide place;
  std::map<std::string, std::int64_t> left_out;  ///< by reason
  std::int64_t rounds = 0;
  bool complete = true;  ///< false: too long to replay to the end; nothing is compared

  bool operator==(const CounterfactualEstimate&) const = default;
};

/// Maximum number of runs replayed: the last ones.
inline constexpr std::size_t kMaxCounterfactualRuns = 5000;

/// `now`: the last published snapshot, for its nodes and running jobs. `runs`: as listed by
/// store::Reader::runs(). `from`: earlier runs are ignored. Deterministic.
[[nodiscard]] CounterfactualEstimate estimate_counterfactual(const Snapshot& now,
                                                             const std::vector<RecordedRun>& runs,
                                                             const Models& models,
                                                             const Config& config, Seconds from);

/// The assumptions of the estimate, one sentence each.
[[nodiscard]] const std::vector<std::string>& counterfactual_assumptions();

}  // namespace rubato
