// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/growth_cap.h"

#include <algorithm>

#include "lib/core/resize_request.h"

namespace rubato {

int beyond_request(const Job& job, int gpus) {
  return std::max(gpus - static_cast<int>(requested_gpus(job)), 0);
}

int held_gpus(const Job& job) {
  int gpus = 0;
  for (const NodeShare& share : job.allocation) gpus += share.gpu_count();
  return gpus;
}

GrowthCaps::GrowthCaps(const RoundInput& input) : input_(input) {
  if (input.config.growth_caps.empty()) return;
  for (const Job& job : input.snapshot.jobs) {
    if (job.state != JobState::kRunning) continue;
    const int beyond = beyond_request(job, held_gpus(job));
    if (beyond > 0) used_[job.qos] += beyond;
  }
}

std::optional<int> GrowthCaps::of(const std::string& qos) const {
  const auto& caps = input_.config.growth_caps;
  auto at = caps.find(qos);
  if (at == caps.end()) at = caps.find("");
  return at != caps.end() ? std::optional(at->second) : std::nullopt;
}

std::optional<int> GrowthCaps::left_for(const Job& job) const {
  const auto cap = of(job.qos);
  if (!cap) return std::nullopt;
  const auto used = used_.find(job.qos);
  const int others = (used != used_.end() ? used->second : 0) - beyond_request(job, held_gpus(job));
  return std::max(*cap - others, 0);
}

}  // namespace rubato
