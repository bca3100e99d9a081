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
  std::string rule;   ///< option of slurm.conf or rubato.conf, hold-size or checkpoint
  Seconds until = 0;  ///< when it ends; 0: never

  bool operator==(const ChangeBound&) const = default;
};

/// Whether the checkpoint signal of a running job would reach no process: without "B:" it goes to
/// steps only, and none runs. A restart would lose its work.
[[nodiscard]] bool is_unreached(const Job& job);

/// The time in which a running job may not be changed, if that is not over: as long as its size is
/// held (`rubato hold-size`), while its checkpoint signal would reach no process and it can only be
/// restarted, else the longer one of Slurm's PreemptExemptTime and MinRunTime. None: it may change.
[[nodiscard]] std::optional<ChangeBound> change_bound(const RoundInput& input, const Job& job);

/// Until when a change that the round decided, and that failed, keeps its job out of the market.
/// That is as long as the try took, and as a restart costs beside: so a job is in tries that fail
/// for less than half of the time. It is at least one MessageInterval (a minute without one, at
/// most ten minutes), since jobs tell nothing new before, and what failed at once would fail in
/// each round.
[[nodiscard]] Seconds next_try(const Config& config, const AskedResize& failed, const Job& job);

/// Whether a change of the job is under way, or one that the round decided has just failed
/// (next_try()): the round then decides about no other.
[[nodiscard]] bool is_changing(const RoundInput& input, const Job& job);

}  // namespace rubato
