// SPDX-License-Identifier: GPL-2.0-or-later
// The common loop: discrete events (a job arrives, ends, reaches a point where its speed changes, a
// policy's round, a node goes down or comes back), progress integrated analytically between them.
#pragma once

#include <memory>

#include "lib/sim/engine/policy.h"
#include "lib/sim/engine/run_control.h"
#include "lib/sim/engine/suite.h"

namespace rubato::sim {

/// A run that can be cut and continued. Deterministic except RunMetrics::round_ms.
///
/// The engine places a grant without nodes. A job that keeps type and number stays where it is. The
/// others follow, larger ones first, each on the node with the fewest free GPUs that suffice. A job
/// larger than a node fills empty nodes first; its rest is placed the same way. A start costs
/// SimJob::start_s, a change of type, number, nodes or plan restart_s (resize_s where the job has
/// that); another batch costs nothing. A node that goes down takes the GPUs of its jobs, which keep
/// their progress.
class Engine {
 public:
  /// `suite` and `policy` live as long as the run.
  Engine(const Suite& suite, Policy& policy, std::uint64_t seed, bool intervals);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Runs until all jobs are done (true), no event is left (true), or the run is cut (false). Fails
  /// if a grant does not fit, and names the policy's mistake.
  [[nodiscard]] Result<bool> run(const RunControl& control);
  /// The results so far.
  [[nodiscard]] RunMetrics record() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// A whole run.
[[nodiscard]] Result<RunMetrics> run_engine(const Suite& suite, Policy& policy,
                                            const RunControl& control);

}  // namespace rubato::sim
