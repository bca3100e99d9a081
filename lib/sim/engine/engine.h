// SPDX-License-Identifier: GPL-2.0-or-later
// The common loop: discrete events (a job arrives, ends, reaches a point where its speed changes, a
// policy's round, a node goes down or comes back), progress integrated analytically between them.
#pragma once

#include <memory>

#include "lib/sim/engine/policy.h"
#include "lib/sim/engine/run_control.h"
#include "lib/sim/engine/suite.h"

namespace rubato::sim {

/// A run that can be cut and goes on where it was. Pure but for RunMetrics::round_ms.
///
/// A grant that says no nodes is placed: where the job is, if it keeps type and number; else,
/// larger jobs first, on the node with fewest free GPUs that holds it whole; one larger than a node
/// on empty nodes as long as it fills them, and the rest the same way. A start costs
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

  /// Goes on until all is done (true), nothing can ever happen again (true), or the run is cut
  /// (false). Fails where a grant does not fit, and names the policy's mistake.
  [[nodiscard]] Result<bool> run(const RunControl& control);
  /// What it gave until now.
  [[nodiscard]] RunMetrics record() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// The whole of a run.
[[nodiscard]] Result<RunMetrics> run_engine(const Suite& suite, Policy& policy,
                                            const RunControl& control);

}  // namespace rubato::sim
