// SPDX-License-Identifier: GPL-2.0-or-later
// Ground truth for jobs that describe the time of an iteration themselves.
#pragma once

#include <optional>
#include <string>

#include "lib/sim/engine/truth.h"

namespace rubato::sim {

/// An execution plan "servers=N": N parameter servers on cores and one worker per GPU.
/// Without a plan the job has its own number of servers, each on a GPU of its own.
[[nodiscard]] std::string servers_plan(int servers);
/// nullopt: not such a plan.
[[nodiscard]] std::optional<int> planned_servers(const std::string& plan);

/// Seconds of an iteration, and the part spent exchanging gradients. nullopt if the job cannot run:
/// a GPU has no sample or too many samples, no GPU is left for a worker, or the plan differs.
struct StepSpan {
  double step_s = 0;
  double sync_s = 0;
  double batch = 0;  ///< global
  int passes = 1;    ///< of an iteration
  int workers = 0;
  int servers = 0;
};
[[nodiscard]] std::optional<StepSpan> step_span(const SimJob& job, const Setting& setting);

/// Work is counted in samples. All GPUs are equal, whatever their type and node.
class StepTruth : public Truth {
 public:
  [[nodiscard]] double throughput(const SimJob& job, const Setting& setting,
                                  double done) const override;
  [[nodiscard]] Observation observe(const SimJob& job, const Setting& setting,
                                    double done) const override;
  [[nodiscard]] double samples_per_unit(const SimJob& /*job*/) const override { return 1; }
};

}  // namespace rubato::sim
