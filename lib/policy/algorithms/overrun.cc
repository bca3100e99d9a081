// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/overrun.h"

#include <algorithm>

#include "lib/policy/algorithms/forecast.h"

namespace rubato {
namespace {

// Reports beyond the stated work: the last epoch may be counted whole.
constexpr double kMoreSamples = 1.25;
// A forecast before a start is often wrong by a factor of two.
constexpr double kMoreTime = 3;
// Start-up, loading of data, the first report.
constexpr Seconds kGrace = 300;

int held_gpus_of(const Job& job, std::string& type) {
  int gpus = 0;
  for (const NodeShare& share : job.allocation) {
    for (const GpuCount& group : share.gpus) {
      gpus += group.count;
      type = group.type;
    }
  }
  return gpus;
}

bool ran_too_long(const RoundInput& input, const Job& job, double samples) {
  const Models& models = input.models;
  const ProfileName profile = profile_of(job, input.config);
  std::string type;
  const int gpus = held_gpus_of(job, type);
  if (gpus == 0 || !models.forecasts().measured() || profile.job_type.empty()) return false;
  const Forecast forecast = models.forecasts().throughput(job.key, profile, type, gpus);
  if (!forecast.known_profile || !(forecast.throughput() > 0)) return false;
  const auto ran = static_cast<double>(input.now - job.start);
  return ran > kGrace && ran > kMoreTime * samples / forecast.throughput();
}

bool overran(const RoundInput& input, const Job& job) {
  // uid 0: jobs of the simulator, of anonymous snapshots and of root.
  const bool states = job.managed && job.hints && job.hints->work && job.uid != 0;
  if (job.state != JobState::kRunning || !states) return false;
  const Work& work = *job.hints->work;
  const Progress* const progress = progress_of(input.snapshot.memory, job.key);
  auto samples = static_cast<double>(work.count);
  if (work.unit == WorkUnit::kTargetLoss) return false;
  if (work.unit == WorkUnit::kSteps) {
    std::int64_t batch = progress != nullptr ? progress->batch : 0;
    if (batch <= 0 && job.hints->batch) batch = job.hints->batch->max;
    if (batch <= 0) return false;
    samples *= static_cast<double>(batch);
  }
  if (progress != nullptr) return static_cast<double>(progress->samples) > kMoreSamples * samples;
  return ran_too_long(input, job, samples);
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
