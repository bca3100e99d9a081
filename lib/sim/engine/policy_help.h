// SPDX-License-Identifier: GPL-2.0-or-later
// What several policies need.
#pragma once

#include <optional>
#include <vector>

#include "lib/sim/engine/node_pool.h"
#include "lib/sim/engine/policy.h"

namespace rubato::sim {

[[nodiscard]] inline PerGpu per_gpu(const SimJob& job) {
  return {job.cores_per_gpu, job.memory_per_gpu};
}
/// The same as granted.
[[nodiscard]] inline PerGpu per_gpu(const SimJob& job, const Grant& grant) {
  return {grant.cores_per_gpu >= 0 ? grant.cores_per_gpu : job.cores_per_gpu, job.memory_per_gpu};
}

/// It names no types, or this one.
[[nodiscard]] bool may_use(const SimJob& job, const ClusterShape& cluster, int type);
/// Speed on `gpus` packed GPUs of a type, where it may run there; else 0.
[[nodiscard]] double speed(const PolicyState& state, const JobView& view, int type, int gpus);
/// Where `gpus` GPUs of a type would go, if there is room and it makes progress on these nodes.
[[nodiscard]] std::optional<std::vector<NodeGpus>> find_running(const PolicyState& state,
                                                                const JobView& view,
                                                                const NodePool& pool, int type,
                                                                int gpus);
/// Seconds until it ends at that speed; kNever at 0.
[[nodiscard]] double seconds_left(const PolicyState& state, const JobView& view, int type,
                                  int gpus);
/// Free GPUs: those not held by running jobs (`held`), or all that are up.
[[nodiscard]] NodePool free_pool(const PolicyState& state, bool held);
/// Gives each grant its nodes: those that stay as they are keep theirs, then the others, larger
/// ones first; who finds none, or makes no progress there, gets nothing.
void settle(const PolicyState& state, std::vector<Grant>& grants);
/// What runs goes on as it is; the others wait.
[[nodiscard]] std::vector<Grant> as_it_is(const PolicyState& state);

}  // namespace rubato::sim
