// SPDX-License-Identifier: GPL-2.0-or-later
// The common loop: a discrete-event simulation. Events: a job arrives or ends, its throughput
// changes, a policy decides, a node goes down or comes back. Progress between events is integrated
// analytically.
#pragma once

#include <memory>

#include "lib/sim/engine/policy.h"
#include "lib/sim/engine/run_control.h"
#include "lib/sim/engine/suite.h"

namespace rubato::sim {

/// A simulation run that can be stopped and continued. Deterministic except RunMetrics::round_ms.
///
/// The engine places grants that name no nodes. A job whose type and size stay the same keeps its
/// nodes. The other jobs follow, larger ones first, each on the node with the fewest free GPUs that
/// suffice. A job larger than a node fills empty nodes first; the remaining GPUs are placed as a
/// smaller job. A start costs SimJob::start_s. A change of type, size, nodes or plan costs
/// restart_s (resize_s if the job has it). A change of batch is free. When a node goes down, its
/// jobs lose their GPUs and keep their progress.
class Engine {
 public:
  /// `suite` and `policy` must outlive the run.
  Engine(const Suite& suite, Policy& policy, std::uint64_t seed, bool intervals);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Runs until all jobs are done (true), no event is left (true), or the run is cut (false). Fails
  /// if a grant does not fit; the error names the policy's mistake.
  [[nodiscard]] Result<bool> run(const RunControl& control);
  /// The results so far.
  [[nodiscard]] RunMetrics record() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Runs a simulation from start to end.
[[nodiscard]] Result<RunMetrics> run_engine(const Suite& suite, Policy& policy,
                                            const RunControl& control);

}  // namespace rubato::sim
