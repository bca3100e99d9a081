// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/change_bounds.h"

#include <algorithm>

namespace rubato {
namespace {

// Slurm's time and MinRunTime both count from the last start.
ChangeBound exempt_bound(const RoundInput& input, const Job& job) {
  const Seconds least = input.config.min_run_time;
  const Seconds own = least > 0 ? add_seconds(job.start, least) : 0;
  if (own > job.exempt_until) return {StayReason::kExempt, "MinRunTime", own};
  return {StayReason::kExempt, "PreemptExemptTime", job.exempt_until};
}

}  // namespace

std::optional<ChangeBound> change_bound(const RoundInput& input, const Job& job) {
  const ChangeBound exempt = exempt_bound(input, job);
  if (exempt.until > input.now) return exempt;
  return std::nullopt;
}

bool is_changing(const Memory& memory, const JobKey& job) {
  return std::ranges::any_of(memory.asked_resizes, [&](const AskedResize& resize) {
    const bool failed = resize.by_round && resize.step == ResizeStep::kFailed;
    return resize.job.id == job.id && (!resize.over() || failed);
  });
}

}  // namespace rubato
