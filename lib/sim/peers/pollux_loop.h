// SPDX-License-Identifier: GPL-2.0-or-later
// The loop of Pollux's simulator (Qiao et al., OSDI 2021), in which it was compared with Tiresias
// and Optimus.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "lib/sim/cluster_shape.h"
#include "lib/sim/metrics.h"
#include "lib/sim/peers/adaptive_job.h"
#include "lib/sim/peers/adaptive_truth.h"
#include "lib/sim/run_control.h"
#include "lib/sim/workload.h"

namespace rubato::sim {

inline constexpr double kPolluxRound = 60;    ///< seconds
inline constexpr double kPolluxRestart = 30;  ///< seconds, the first start too

/// A job of the loop. What policies may use of it is theirs to say.
struct PolluxJob {
  const SimJob* job = nullptr;
  AdaptiveJob run;
  std::int64_t most_local = 0;  ///< batch that fits a GPU
  std::vector<int> nodes;       ///< a node for each GPU it holds, in the order of allocation
  JobResult* result = nullptr;  ///< of it, as far as it is known

  [[nodiscard]] int gpus() const { return static_cast<int>(nodes.size()); }
};

/// What each job gets, node by node as in PolluxJob::nodes; in the order of `active`, which is that
/// of the workload.
using PolluxGrants = std::vector<std::vector<int>>;

/// A policy of this loop; it keeps its own state.
class PolluxPolicy {
 public:
  PolluxPolicy() = default;
  PolluxPolicy(const PolluxPolicy&) = delete;
  PolluxPolicy& operator=(const PolluxPolicy&) = delete;
  virtual ~PolluxPolicy() = default;

  [[nodiscard]] virtual PolluxGrants decide(double now, std::span<PolluxJob* const> active) = 0;
  /// A job measured an iteration.
  virtual void measured(PolluxJob& /*job*/, const StepSeconds& /*step*/) {}
  /// The split of its batch. By default that of the batch its user set.
  [[nodiscard]] virtual BatchSplit split(const PolluxJob& job) const;
};

/// Largest batch of a GPU that the simulator allows an application: what was measured, but for one
/// to which it sets a lower bound.
[[nodiscard]] std::int64_t pollux_most_local(const AdaptiveApp& app);

/// Rounds of 60 s. Whenever the list of nodes of a job changes it restarts, 30 s. Jobs are those of
/// read_sia_jobs, all of their applications are in `apps`; `cluster` has one group.
[[nodiscard]] RunRecord replay_pollux(const JobList& jobs, const ClusterShape& cluster,
                                      const AdaptiveApps& apps, PolluxPolicy& policy,
                                      const RunControl& control);

/// GPUs one after the other from the node with most free, lowest index on ties; `free` is reduced.
[[nodiscard]] std::vector<int> take_most_free(std::vector<int>& free, int gpus);
/// What the jobs leave free of the nodes.
[[nodiscard]] std::vector<int> free_beside(const PolluxGrants& held, int nodes, int node_gpus);

}  // namespace rubato::sim
