// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/adaptive_guest.h"

#include <algorithm>

namespace rubato::sim {

std::vector<LoopGrant> AdaptiveGuest::decide(double now, std::span<LoopJob* const> active) {
  std::vector<GuestJob> jobs;
  for (const LoopJob* job : active) {
    jobs.push_back({index(*job), job->run.progress, job->run.delay, job->result->restarts});
  }
  const auto grants = guest_.decide(now, jobs);
  std::vector<LoopGrant> out(active.size());
  if (!grants) {
    failure_ = grants.error().text;
    return out;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Grant& grant = (*grants)[i];
    if (!grant.holds()) continue;
    out[i].type = grant.type;
    for (const NodeGpus& part : grant.where) {
      out[i].nodes.insert(out[i].nodes.end(), static_cast<std::size_t>(part.gpus), part.node);
    }
  }
  return out;
}

BatchSplit AdaptiveGuest::split(const LoopJob& job) const {
  const double granted = guest_.grant(index(job)).batch;
  BatchSplit split = rules().fixed(job.app(), job.run.type, job.run.placement,
                                   granted > 0 ? granted : job.job->batch);
  split.local = std::max<std::int64_t>(split.local, 1);
  return split;
}

}  // namespace rubato::sim
