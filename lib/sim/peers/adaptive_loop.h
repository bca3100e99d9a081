// SPDX-License-Identifier: GPL-2.0-or-later
// The loop of the simulators of Pollux (Qiao et al., OSDI 2021) and Sia (Jayaram Subramanya et al.,
// SOSP 2023). Time advances in periods; after each, the policy allocates GPUs to jobs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/sim/engine/cluster_shape.h"
#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/run_control.h"
#include "lib/sim/engine/workload.h"
#include "lib/sim/peers/adaptive_job.h"
#include "lib/sim/peers/adaptive_truth.h"

namespace rubato::sim {

/// GPUs of one type.
struct LoopGrant {
  TypeIndex type;                     ///< not valid(): none
  std::vector<GroupNodeIndex> nodes;  ///< one per GPU, in the order of allocation

  bool operator==(const LoopGrant&) const = default;
};

/// A job of the loop. Each policy decides which fields it may use.
struct LoopJob {
  const SimJob* job = nullptr;
  const AppRules* rules = nullptr;  ///< of its application
  AdaptiveJob run;
  LoopGrant held;
  JobResult* result = nullptr;  ///< the result so far

  [[nodiscard]] int gpus() const { return static_cast<int>(held.nodes.size()); }
  [[nodiscard]] const AdaptiveApp& app() const { return *run.app; }
};

/// A policy of this loop. It keeps its own state.
class LoopPolicy {
 public:
  explicit LoopPolicy(const AdaptiveRules& rules) : rules_(rules) {}
  LoopPolicy(const LoopPolicy&) = delete;
  LoopPolicy& operator=(const LoopPolicy&) = delete;
  virtual ~LoopPolicy() = default;

  /// Seconds between decisions.
  [[nodiscard]] virtual double period() const { return 60; }
  /// Grants in the order of `active`, which is workload order.
  [[nodiscard]] virtual std::vector<LoopGrant> decide(double now,
                                                      std::span<LoopJob* const> active) = 0;
  /// Called when a job measured an iteration.
  virtual void measured(LoopJob& /*job*/, const StepSeconds& /*step*/) {}
  /// Why the policy can no longer decide, which fails the run; "" if it can.
  [[nodiscard]] virtual const std::string& failure() const {
    static const std::string none;
    return none;
  }
  /// The split of the job's batch. Default: that of the user's batch.
  [[nodiscard]] virtual BatchSplit split(const LoopJob& job) const;

 protected:
  [[nodiscard]] const AdaptiveRules& rules() const { return rules_; }

 private:
  const AdaptiveRules& rules_;
};

/// Replays jobs of read_sia_jobs(). Their applications are in `world`, with a table for each group
/// of `cluster`. Fails if the policy fails.
[[nodiscard]] Result<RunMetrics> replay_adaptive(const JobList& jobs, const ClusterShape& cluster,
                                                 const AdaptiveWorld& world, LoopPolicy& policy,
                                                 const RunControl& control);

/// Takes GPUs one by one from the node with most free GPUs, lowest index on ties; reduces `free`.
[[nodiscard]] std::vector<GroupNodeIndex> take_most_free(std::vector<int>& free, int gpus);
/// Free GPUs of each node of `group`, after subtracting those that jobs hold.
[[nodiscard]] std::vector<int> free_beside(const std::vector<LoopGrant>& held,
                                           const NodeGroup& group);

}  // namespace rubato::sim
