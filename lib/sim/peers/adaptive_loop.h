// SPDX-License-Identifier: GPL-2.0-or-later
// The loop of the simulators of Pollux (Qiao et al., OSDI 2021) and Sia (Jayaram Subramanya et al.,
// SOSP 2023): time in periods; after each period the policy allocates GPUs to jobs.
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
  int type = -1;           ///< -1: none
  std::vector<int> nodes;  ///< of its group, one for each GPU, in the order of allocation

  bool operator==(const LoopGrant&) const = default;
};

/// A job of the loop. What policies may use of it is theirs to say.
struct LoopJob {
  const SimJob* job = nullptr;
  const AppRules* rules = nullptr;  ///< of its application
  AdaptiveJob run;
  LoopGrant held;
  JobResult* result = nullptr;  ///< of it, as far as it is known

  [[nodiscard]] int gpus() const { return static_cast<int>(held.nodes.size()); }
  [[nodiscard]] const AdaptiveApp& app() const { return *run.app; }
};

/// A policy of this loop; it keeps its own state.
class LoopPolicy {
 public:
  explicit LoopPolicy(const AdaptiveRules& rules) : rules_(rules) {}
  LoopPolicy(const LoopPolicy&) = delete;
  LoopPolicy& operator=(const LoopPolicy&) = delete;
  virtual ~LoopPolicy() = default;

  /// Seconds between decisions.
  [[nodiscard]] virtual double period() const { return 60; }
  /// In the order of `active`, which is that of the workload.
  [[nodiscard]] virtual std::vector<LoopGrant> decide(double now,
                                                      std::span<LoopJob* const> active) = 0;
  /// A job measured an iteration.
  virtual void measured(LoopJob& /*job*/, const StepSeconds& /*step*/) {}
  /// Why it cannot decide any more; "": it can. The run fails then.
  [[nodiscard]] virtual const std::string& failure() const {
    static const std::string none;
    return none;
  }
  /// The split of its batch. By default that of the batch its user set.
  [[nodiscard]] virtual BatchSplit split(const LoopJob& job) const;

 protected:
  [[nodiscard]] const AdaptiveRules& rules() const { return rules_; }

 private:
  const AdaptiveRules& rules_;
};

/// Jobs are those of read_sia_jobs; their applications are in `world`, with a table for each group
/// of `cluster`. Fails when the policy does.
[[nodiscard]] Result<RunMetrics> replay_adaptive(const JobList& jobs, const ClusterShape& cluster,
                                                 const AdaptiveWorld& world, LoopPolicy& policy,
                                                 const RunControl& control);

/// GPUs one after the other from the node with most free, lowest index on ties; `free` is reduced.
[[nodiscard]] std::vector<int> take_most_free(std::vector<int>& free, int gpus);
/// What the jobs leave free of the nodes of the first group.
[[nodiscard]] std::vector<int> free_beside(const std::vector<LoopGrant>& held, int nodes,
                                           int node_gpus);

}  // namespace rubato::sim
