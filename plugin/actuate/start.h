// SPDX-License-Identifier: GPL-2.0-or-later
// Starting a pending job where the plan says.
#pragma once

#include <string>
#include <vector>

#include "lib/core/plan.h"
#include "plugin/common/pair.h"

namespace rubato {

enum class StartResult {
  kStarted,
  kGone,       ///< not pending any more, or another job now: nothing was asked
  kNotNow,     ///< held, completing, limited, without a licence ...: nothing was asked
  kBusy,       ///< slurmctld found no room there
  kStillBusy,  ///< it found none before, and nothing has changed: it was not asked
  kLimit,      ///< the nodes it chose would break an association or QOS limit
  kRefused,    ///< slurmctld refused for another reason
};

struct StartOutcome {
  StartResult result = StartResult::kGone;
  std::string words;  ///< Slurm's words for a refusal
  std::string nodes;  ///< hostlist it started on
  std::string label;  ///< what started, as squeue shows it: of an array one task
};

/// Where a start may go, as indices of slurmctld's node table, sorted.
struct StartConstraints {
  const std::vector<int>* only = nullptr;   ///< null: anywhere
  const std::vector<int>* never = nullptr;  ///< null: nothing is off limits
  std::string gpu_type;  ///< to be bound in the request, because a node has several; "" otherwise
  const Job* job = nullptr;  ///< hears of its start through its environment; null: it does not
  /// Another size: what it asks for, and at_size() of it, for which its record is rewritten first.
  const Job* asked = nullptr;
  const Job* planned = nullptr;  ///< null: as requested
};

/// Asks slurmctld to start `start` now. Everything that schedule() tests before select_nodes() is
/// tested again, since the locks were free in between. A refusal changes nothing of the job but its
/// state reason, and puts back what was rewritten; no job is ever held by it. Under LockKind::kAct.
[[nodiscard]] StartOutcome try_start(const Start& start, const StartConstraints& constraints,
                                     Pair& pair);

}  // namespace rubato
