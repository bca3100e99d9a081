// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/change_bounds.h"

#include <algorithm>
#include <cmath>

#include "lib/policy/algorithms/size_holds.h"

namespace rubato {
namespace {

constexpr Seconds kMinute = 60;
constexpr Seconds kLongestPause = 600;  // as long as the record of a change is kept

// Slurm's time and MinRunTime both count from the last start.
ChangeBound exempt_bound(const RoundInput& input, const Job& job) {
  const Seconds least = input.config.min_run_time;
  const Seconds own = least > 0 ? add_seconds(job.start, least) : 0;
  if (own > job.exempt_until) return {StayReason::kExempt, "MinRunTime", own};
  return {StayReason::kExempt, "PreemptExemptTime", job.exempt_until};
}

}  // namespace

bool is_unreached(const Job& job) {
  if (!job.without_step || !job.hints) return false;
  return job.hints->checkpoint.consents() && !job.hints->checkpoint.batch_only;
}

std::optional<ChangeBound> change_bound(const RoundInput& input, const Job& job) {
  const SizeHold* const hold = hold_of(input.snapshot.memory, job.key, input.now);
  if (hold != nullptr && !input.config.off(Mechanism::kHoldSize))
    return ChangeBound{StayReason::kHeld, "hold-size", hold->until};
  const bool live = job.hints && job.hints->resize == Resize::kLive;
  if (is_unreached(job) && !live) return ChangeBound{StayReason::kUnreached, "checkpoint", 0};
  const ChangeBound exempt = exempt_bound(input, job);
  if (exempt.until > input.now) return exempt;
  return std::nullopt;
}

Seconds next_try(const Config& config, const AskedResize& failed, const Job& job) {
  const Seconds took = std::max<Seconds>(failed.since - failed.asked, 0);
  const auto cost = static_cast<Seconds>(std::ceil(job.costs.restart));
  const Seconds least =
      config.message_interval > 0 ? std::min(config.message_interval, kLongestPause) : kMinute;
  return add_seconds(failed.since, std::max(took + cost, least));
}

bool is_changing(const RoundInput& input, const Job& job) {
  return std::ranges::any_of(input.snapshot.memory.asked_resizes, [&](const AskedResize& resize) {
    if (resize.job.id != job.key.id) return false;
    if (!resize.over()) return true;
    const bool failed = resize.by_round && resize.step == ResizeStep::kFailed;
    return failed && input.now < next_try(input.config, resize, job);
  });
}

}  // namespace rubato
