// SPDX-License-Identifier: GPL-2.0-or-later
// What mode place would have gained: an estimate. The jobs that ran are played again through
// round() on the nodes there are, and compares simulated with real waiting times.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "lib/model/models.h"

namespace rubato {

/// A run as the store has it.
struct RecordedRun {
  JobKey job;
  Seconds start = 0;
  Seconds enters = 0;  ///< from when on Slurm would have let it start
  Seconds end = 0;     ///< 0: it had not ended when this was written
  std::string text;    ///< sim::run_text
};

/// Means over the jobs that are compared, in seconds.
struct CounterfactualSide {
  double wait = 0;  ///< from when Slurm would have let it start to its start
  double jct = 0;   ///< to its end

  bool operator==(const CounterfactualSide&) const = default;
};

struct CounterfactualEstimate {
  Seconds from = 0;
  Seconds until = 0;
  std::int64_t runs = 0;      ///< that were on or began in this time
  std::int64_t compared = 0;  ///< of managed jobs, started in it in mode observe, and ended
  std::int64_t beside = 0;    ///< of other jobs, played with them
  std::int64_t moved = 0;     ///< of the compared: on another GPU type or at another size
  std::int64_t rescaled = 0;  ///< of these: whose run time a measured profile changed
  CounterfactualSide observed;
  CounterfactualSide place;
  std::map<std::string, std::int64_t> left_out;  ///< by reason
  std::int64_t rounds = 0;
  bool complete = true;  ///< false: too long to be played to its end; nothing is compared

  bool operator==(const CounterfactualEstimate&) const = default;
};

/// Maximum number of runs played: the last ones.
inline constexpr std::size_t kMaxCounterfactualRuns = 5000;

/// `now`: the snapshot published last, whose nodes and running jobs count; `runs` as
/// store::Reader::runs() lists them; `from`: earlier runs do not count. Pure.
[[nodiscard]] CounterfactualEstimate estimate_counterfactual(const Snapshot& now,
                                                             const std::vector<RecordedRun>& runs,
                                                             const Models& models,
                                                             const Config& config, Seconds from);

/// What was taken for granted, a sentence each.
[[nodiscard]] const std::vector<std::string>& counterfactual_assumptions();

[[nodiscard]] nlohmann::ordered_json to_json(const CounterfactualEstimate& estimate);

}  // namespace rubato
