// SPDX-License-Identifier: GPL-2.0-or-later
// Starts a pending job on the nodes of the plan.
#pragma once

#include <string>
#include <vector>

#include "lib/core/plan.h"
#include "plugin/common/pair.h"

namespace rubato {

enum class StartResult {
  kStarted,
  kGone,       ///< not pending any more, or the id is of another job; slurmctld was not asked
  kNotNow,     ///< held, completing, limited, no licence ...; slurmctld was not asked
  kBusy,       ///< slurmctld found no free resources
  kStillBusy,  ///< as kBusy before, and nothing changed; slurmctld was not asked
  kLimit,      ///< the chosen nodes would break an association or QOS limit
  kRefused,    ///< slurmctld refused for another reason
};

struct StartOutcome {
  StartResult result = StartResult::kGone;
  std::string words;  ///< Slurm's text for a refusal
  std::string nodes;  ///< hostlist of the started job
  std::string label;  ///< the started job or array task, as squeue shows it
};

/// Where a start may go, as indices of slurmctld's node table, sorted.
struct StartConstraints {
  const std::vector<int>* only = nullptr;   ///< null: anywhere
  const std::vector<int>* never = nullptr;  ///< null: nothing is off limits
  std::string gpu_type;      ///< type to request, because a node has several; "" if not
  const Job* job = nullptr;  ///< gets the environment of this start; null: none is written
  /// For a start at another size: the job as requested, and at_size() of it. The record is
  /// rewritten first.
  const Job* asked = nullptr;
  const Job* planned = nullptr;  ///< null: as requested
};

/// Asks slurmctld to start `start` now. Repeats all tests that schedule() makes before
/// select_nodes(), because the locks were free since the snapshot. A refusal changes only the state
/// reason of the job, and restores a rewritten request. Needs LockKind::kAct.
[[nodiscard]] StartOutcome try_start(const Start& start, const StartConstraints& constraints,
                                     Pair& pair);

}  // namespace rubato
