// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that several policies share.
#pragma once

#include <optional>
#include <vector>

#include "lib/sim/engine/node_pool.h"
#include "lib/sim/engine/policy.h"

namespace rubato::sim {

[[nodiscard]] inline PerGpu per_gpu(const SimJob& job) {
  return {job.cores_per_gpu, job.memory_per_gpu};
}
/// The cores and memory per GPU as granted.
[[nodiscard]] inline PerGpu per_gpu(const SimJob& job, const Grant& grant) {
  return {grant.cores_per_gpu >= 0 ? grant.cores_per_gpu : job.cores_per_gpu, job.memory_per_gpu};
}

/// Whether the job may use the type: it names no types, or this one.
[[nodiscard]] bool may_use(const SimJob& job, const ClusterShape& cluster, TypeIndex type);
/// Throughput on `gpus` packed GPUs of a type; 0 if the job may not run there.
[[nodiscard]] double speed(const PolicyState& state, const JobView& view, TypeIndex type, int gpus);
/// Placement of `gpus` GPUs of a type, if there is room and the job makes progress on these nodes.
[[nodiscard]] std::optional<std::vector<NodeGpus>> find_running(const PolicyState& state,
                                                                const JobView& view,
                                                                const NodePool& pool,
                                                                TypeIndex type, int gpus);
/// Seconds until the job ends at that throughput; kNever if it is 0.
[[nodiscard]] double seconds_left(const PolicyState& state, const JobView& view, TypeIndex type,
                                  int gpus);
/// The GPUs on nodes that are up. `held`: without those of running jobs.
[[nodiscard]] NodePool free_pool(const PolicyState& state, bool held);
/// Assigns nodes to each grant. Unchanged grants keep their nodes; the others follow, larger ones
/// first. A grant without room or progress is dropped.
void settle(const PolicyState& state, std::vector<Grant>& grants);
/// Forecast of the remaining time / true remaining time, drawn with the job's forecast_error.
[[nodiscard]] double forecast_factor(const SimJob& job, std::uint64_t seed, JobIndex number);
/// Keeps the allocations of running jobs; the other jobs wait.
[[nodiscard]] std::vector<Grant> as_it_is(const PolicyState& state);

/// GPU types by properties of their groups: GPUs per node, nodes, cores and memory, larger ones
/// first; by name only if these are equal. Policies break ties in this order, so that the order of
/// groups in a cluster's text decides nothing.
[[nodiscard]] std::vector<TypeIndex> types_by_shape(const ClusterShape& cluster);

/// The order in which a policy that ignores GPU types tries them: for each job its own, drawn from
/// the seed. Gavel's simulator shuffles types for such policies too. Or for all jobs that of the
/// groups, as slurmctld searches nodes in their order.
class TypeOrder {
 public:
  explicit TypeOrder(const PolicyContext& context);

  [[nodiscard]] std::vector<TypeIndex> of(JobIndex job) const;

 private:
  std::vector<TypeIndex> types_;
  std::uint64_t seed_;
  bool in_order_;
};

}  // namespace rubato::sim
