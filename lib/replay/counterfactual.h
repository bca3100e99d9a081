// SPDX-License-Identifier: GPL-2.0-or-later
// Counterfactual estimate of the modes place and elastic. Replays recorded jobs through round() on
// the current nodes, and compares simulated with recorded times.
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

/// What mode elastic did to the compared runs of an account.
struct InterruptedAccount {
  std::string account;
  std::int64_t runs = 0;         ///< compared
  std::int64_t consenting = 0;   ///< of them, those whose hints let them be changed
  std::int64_t interrupted = 0;  ///< of them, those that were restarted
  std::int64_t restarts = 0;
  std::int64_t resizes = 0;  ///< while they ran

  bool operator==(const InterruptedAccount&) const = default;
};

struct CounterfactualEstimate {
  Mode mode = Mode::kObserve;  ///< in which the compared runs started: observe or place
  Seconds from = 0;
  Seconds until = 0;
  std::int64_t runs = 0;      ///< that were running or started in this period
  std::int64_t compared = 0;  ///< of managed jobs, started in it in this mode, and ended
  std::int64_t beside = 0;    ///< of other jobs, replayed too
  std::int64_t moved = 0;  ///< compared runs on another GPU type or at another size in mode place
  std::int64_t rescaled = 0;  ///< moved runs whose run time a measured profile changed
  CounterfactualSide observed;
  CounterfactualSide place;
  CounterfactualSide elastic;
  std::vector<InterruptedAccount> accounts;      ///< by mode elastic; sorted by name
  std::map<std::string, std::int64_t> left_out;  ///< by reason
  std::int64_t rounds = 0;
  bool complete = true;          ///< false: too long to replay to the end; nothing is compared
  bool elastic_complete = true;  ///< the same for mode elastic alone

  bool operator==(const CounterfactualEstimate&) const = default;
};

/// Maximum number of runs replayed: the last ones.
inline constexpr std::size_t kMaxCounterfactualRuns = 5000;

/// `now`: the last published snapshot, for its nodes and running jobs. `runs`: as listed by
/// store::Reader::runs(). `from`: earlier runs are ignored. `config.mode`: observe or place; runs
/// that started in it are compared. Deterministic.
[[nodiscard]] CounterfactualEstimate estimate_counterfactual(const Snapshot& now,
                                                             const std::vector<RecordedRun>& runs,
                                                             const Models& models,
                                                             const Config& config, Seconds from);

/// The assumptions of the estimate, one sentence each.
[[nodiscard]] const std::vector<std::string>& counterfactual_assumptions();

}  // namespace rubato
