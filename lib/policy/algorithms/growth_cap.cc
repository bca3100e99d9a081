// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/growth_cap.h"

#include <algorithm>
#include <set>

#include "lib/core/resize_request.h"

namespace rubato {

int submitted_gpus(const Job& job) {
  const bool known = job.hints && job.hints->request_gpus > 0;
  return static_cast<int>(known ? job.hints->request_gpus : requested_gpus(job));
}

int beyond_request(const Job& job, int gpus) { return std::max(gpus - submitted_gpus(job), 0); }

int held_gpus(const Job& job) {
  int gpus = 0;
  for (const NodeShare& share : job.allocation) gpus += share.gpu_count();
  return gpus;
}

int claimed_gpus(const Memory& memory, const Job& job) {
  int gpus = held_gpus(job);
  for (const AskedResize& resize : memory.asked_resizes) {
    if (resize.job.id == job.key.id && !resize.over()) gpus = std::max(gpus, resize.gpus);
  }
  return gpus;
}

GrowthCaps::GrowthCaps(const RoundInput& input) : input_(input) {
  if (input.config.growth_caps.empty()) return;
  std::set<JobKey> counted;  // a job of several partitions has an entry for each
  for (const Job& job : input.snapshot.jobs) {
    const int beyond = beyond_request(job, claimed_gpus(input.snapshot.memory, job));
    if (beyond > 0 && counted.insert(job.key).second) used_[job.qos] += beyond;
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
  const int own = beyond_request(job, claimed_gpus(input_.snapshot.memory, job));
  const int others = (used != used_.end() ? used->second : 0) - own;
  return std::max(*cap - others, 0);
}

}  // namespace rubato
