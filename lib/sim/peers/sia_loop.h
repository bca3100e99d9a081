// SPDX-License-Identifier: GPL-2.0-or-later
// The loop of Sia's simulator (Jayaram Subramanya et al., SOSP 2023), in which it was compared with
// Gavel.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lib/sim/cluster_shape.h"
#include "lib/sim/metrics.h"
#include "lib/sim/peers/pollux_loop.h"
#include "lib/sim/run_control.h"
#include "lib/sim/workload.h"

namespace rubato::sim {

/// What the simulator knows of an application beside the measurements.
struct SiaConstants {
  std::string_view app;
  double restart = 0;         ///< seconds, the first start too
  double policy_restart = 0;  ///< what Sia's policy takes it for
  double slowdown = 1;        ///< of the truth against the measurements
};

/// Null: an application that Sia's simulator does not know.
[[nodiscard]] const SiaConstants* sia_constants(const std::string& app);
/// Their names.
[[nodiscard]] std::vector<std::string> sia_apps();

/// GPUs of one type.
struct SiaGrant {
  int type = -1;           ///< -1: none
  std::vector<int> nodes;  ///< of its group, one for each GPU, in the order of allocation

  bool operator==(const SiaGrant&) const = default;
};

struct SiaJob {
  const SimJob* job = nullptr;
  const SiaConstants* constants = nullptr;
  AdaptiveJob run;
  SiaGrant held;
  JobResult* result = nullptr;  ///< of it, as far as it is known

  [[nodiscard]] int gpus() const { return static_cast<int>(held.nodes.size()); }
};

/// A policy of this loop; it keeps its own state.
class SiaPolicy {
 public:
  SiaPolicy() = default;
  SiaPolicy(const SiaPolicy&) = delete;
  SiaPolicy& operator=(const SiaPolicy&) = delete;
  virtual ~SiaPolicy() = default;

  /// Seconds between decisions.
  [[nodiscard]] virtual double period() const = 0;
  /// In the order of `active`, which is that of the workload.
  [[nodiscard]] virtual std::vector<SiaGrant> decide(double now,
                                                     std::span<SiaJob* const> active) = 0;
  /// A job measured an iteration.
  virtual void measured(SiaJob& /*job*/, const StepSeconds& /*step*/) {}
  /// The split of its batch. By default that of the batch its user set.
  [[nodiscard]] virtual BatchSplit split(const SiaJob& job) const;
};

/// A fixed global batch where the job runs.
[[nodiscard]] BatchSplit sia_split(const AdaptiveApp& app, int type,
                                   const std::vector<int>& placement, double batch, bool apart);

/// A job restarts when its type or the GPUs on each of its nodes change; which nodes they are does
/// not matter. Jobs are those of read_sia_jobs; their applications are in `apps`, with a table for
/// each group of `cluster`, and known to sia_constants().
[[nodiscard]] RunRecord replay_sia(const JobList& jobs, const ClusterShape& cluster,
                                   const AdaptiveApps& apps, SiaPolicy& policy,
                                   const RunControl& control);

}  // namespace rubato::sim
