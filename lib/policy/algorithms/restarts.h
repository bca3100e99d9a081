// SPDX-License-Identifier: GPL-2.0-or-later
// Restarts that Rubato asked for, counted for RestartsPerJob, RestartsPerJobDay and
// RestartsPerUserDay. A restart counts once slurmctld has requeued the job, not when it is planned.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/policy/algorithms/change_bounds.h"
#include "lib/policy/algorithms/round_input.h"

namespace rubato {

/// The window of the caps for a day.
inline constexpr Seconds kRestartWindow = 86400;
/// How long a planned restart may take until slurmctld requeues the job. Until then it counts
/// against the cap of the user, since it may still come.
inline constexpr Seconds kRestartDelay = 300;

/// Whether a change requeues the job.
[[nodiscard]] bool requeues(const Change& change);

/// Counts the planned restarts whose jobs were requeued since. True if there were any.
bool count_requeues(const Snapshot& snapshot, Memory& memory);

/// Fills in Memory::restarts and Memory::user_restarts after a round with these changes.
/// `remembered`: jobs that are here or may come back. Both stay empty without a cap.
void note_restarts(const RoundInput& input, const std::vector<Change>& changes,
                   const std::set<JobKey>& remembered, Memory& memory);

/// What the caps leave in this round.
class RestartCaps {
 public:
  explicit RestartCaps(const RoundInput& input);

  /// The cap that a running job has reached; of several the one that ends last.
  [[nodiscard]] std::optional<ChangeBound> reached(const Job& job) const;
  /// How many jobs of the user this round may restart beside those that are planned already
  /// (is_planned()); none: no cap.
  [[nodiscard]] std::optional<int> left_for(std::uint32_t uid) const;
  /// An earlier round planned a restart of the job, and it may still come.
  [[nodiscard]] bool is_planned(const JobKey& job) const;

 private:
  const RoundInput& input_;
  std::map<std::uint32_t, int> planned_;  ///< jobs with a planned restart, by user
};

}  // namespace rubato
