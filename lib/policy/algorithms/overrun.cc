// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/overrun.h"

#include <algorithm>

#include "lib/model/progress/done_work.h"
#include "lib/policy/algorithms/forecast.h"
#include "lib/policy/algorithms/job_forecast.h"

namespace rubato {
namespace {

// Reports beyond the stated work: the last epoch may be counted whole.
constexpr double kMoreSamples = 1.25;
// A forecast before a start is often wrong by a factor of two.
constexpr double kMoreTime = 3;
// Start-up, loading of data, the first report.
constexpr Seconds kGrace = 300;

Resources held_by(const Job& job) {
  Resources held = resources_of("", job.allocation);
  for (const NodeShare& share : job.allocation)
    for (const GpuCount& group : share.gpus) held.gpu_type = group.type;
  return held;
}

bool ran_too_long(const RoundInput& input, const Job& job, double work) {
  const Models& models = input.models;
  const JobSpec spec = spec_of(input, job);
  const Resources held = held_by(job);
  if (held.gpus == 0 || !models.forecasts().measured() || spec.profile.job_type.empty())
    return false;
  const Forecast forecast = models.forecasts().throughput(job.key, spec, held);
  if (!forecast.known_profile || !(forecast.goodput() > 0)) return false;
  const auto ran = static_cast<double>(input.now - job.start);
  return ran > kGrace && ran > kMoreTime * work / forecast.goodput();
}

bool overran(const RoundInput& input, const Job& job) {
  // uid 0: jobs of the simulator, of anonymous snapshots and of root.
  const bool states = job.managed && job.hints && job.hints->work && job.uid != 0;
  if (job.state != JobState::kRunning || !states) return false;
  const Work& work = *job.hints->work;
  if (work.unit == WorkUnit::kTargetLoss) return false;
  const auto count = static_cast<double>(work.count);
  if (const Progress* const progress = progress_of(input.snapshot.memory, job.key)) {
    if (work.unit == WorkUnit::kSamples) return progress->done() > kMoreSamples * count;
    return progress->batch > 0 && steps_done(*progress) > kMoreSamples * count;
  }
  const std::optional<double> all = work_left(input.snapshot, job);
  return all && ran_too_long(input, job, *all);
}

}  // namespace

std::vector<UserOverrun> next_overruns(const RoundInput& input) {
  std::vector<UserOverrun> overruns = input.snapshot.memory.overruns;
  std::erase_if(overruns,
                [&](const UserOverrun& one) { return input.now - one.last >= kOverrunCounts; });
  if (input.config.off(Mechanism::kOverrun)) return overruns;
  for (const Job& job : input.snapshot.jobs) {
    if (!overran(input, job)) continue;
    const auto at = std::ranges::lower_bound(overruns, job.uid, {}, &UserOverrun::uid);
    if (at != overruns.end() && at->uid == job.uid) {
      *at = {job.uid, input.now, job.key.id};
    } else {
      overruns.insert(at, {job.uid, input.now, job.key.id});
    }
  }
  return overruns;
}

const UserOverrun* past_overrun(const RoundInput& input, const Job& job) {
  if (job.state != JobState::kPending || input.config.off(Mechanism::kOverrun)) return nullptr;
  const std::vector<UserOverrun>& overruns = input.snapshot.memory.overruns;
  const auto at = std::ranges::lower_bound(overruns, job.uid, {}, &UserOverrun::uid);
  const bool found =
      at != overruns.end() && at->uid == job.uid && input.now - at->last < kOverrunCounts;
  return found ? &*at : nullptr;
}

}  // namespace rubato
