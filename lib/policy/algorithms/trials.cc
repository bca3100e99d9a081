// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/trials.h"

#include <cmath>

#include "lib/policy/algorithms/forecast.h"

namespace rubato {

Trials::Trials(const RoundInput& input) : off_(input.config.off(Mechanism::kTrials)) {
  for (const Job& job : input.snapshot.jobs) {
    if (off_ || job.state != JobState::kRunning || !job.hints) continue;
    const ProfileName profile = profile_of(job, input.config);
    for (const NodeShare& share : job.allocation)
      for (const GpuCount& gpus : share.gpus) tries_.try_emplace({profile, gpus.type}, job.key);
  }
}

double Trials::part(const Job& job, const ProfileName& profile, const std::string& gpu_type,
                    double stddev) {
  if (off_ || !job.hints || profile.job_type.empty() || !(stddev >= kUnmeasured)) return 1;
  const auto [entry, first] = tries_.try_emplace({profile, gpu_type}, job.key);
  return first || entry->second == job.key ? std::exp(-kTrialOptimism * stddev) : 1;
}

}  // namespace rubato
