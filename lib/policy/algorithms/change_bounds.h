// SPDX-License-Identifier: GPL-2.0-or-later
// What forbids every change of a running job for some time, beside its hints.
#pragma once

#include <optional>
#include <string>

#include "lib/core/plan.h"
#include "lib/policy/algorithms/round_input.h"

namespace rubato {

/// A rule that keeps a running job on the GPUs it holds.
struct ChangeBound {
  StayReason reason = StayReason::kExempt;
  std::string rule;   ///< option of slurm.conf or rubato.conf
  Seconds until = 0;  ///< when it ends; 0: never

  bool operator==(const ChangeBound&) const = default;
};

/// The time in which a running job may not be interrupted, if that is not over: the longer one of
/// Slurm's PreemptExemptTime and MinRunTime. None: it may change.
[[nodiscard]] std::optional<ChangeBound> change_bound(const RoundInput& input, const Job& job);

/// Whether a change of the job is under way, or one that the round decided has just failed: the
/// round then decides about no other.
[[nodiscard]] bool is_changing(const Memory& memory, const JobKey& job);

}  // namespace rubato
