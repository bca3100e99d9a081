// SPDX-License-Identifier: GPL-2.0-or-later
// Ground truth of the simulators of Pollux and Sia, for any policy.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "lib/sim/engine/truth.h"
#include "lib/sim/peers/adaptive_app.h"
#include "lib/sim/peers/adaptive_rules.h"

namespace rubato::sim {

/// Applications by name, and the rules of their simulator.
struct AdaptiveWorld {
  std::map<std::string, AdaptiveApp> apps;
  const AdaptiveRules* rules = nullptr;
};

/// Work is progress, in iterations at the application's first batch. A setting without a batch uses
/// the user's batch.
class AdaptiveTruth : public Truth {
 public:
  explicit AdaptiveTruth(std::shared_ptr<const AdaptiveWorld> world) : world_(std::move(world)) {}

  [[nodiscard]] double throughput(const SimJob& job, const Setting& setting,
                                  double done) const override;
  [[nodiscard]] double next_change(const SimJob& job, double done) const override;
  [[nodiscard]] Observation observe(const SimJob& job, const Setting& setting,
                                    double done) const override;
  [[nodiscard]] double samples_per_unit(const SimJob& job) const override;

 private:
  struct Running {
    double batch = 0;
    StepSeconds step;  ///< with the slowdown
    double iteration = 0;
    int passes = 1;  ///< the last one exchanges gradients
    std::size_t epoch = 0;
  };
  [[nodiscard]] Running running(const SimJob& job, const Setting& setting, double done) const;

  [[nodiscard]] const AdaptiveApp& app_of(const SimJob& job) const {
    return world_->apps.at(job.model);
  }

  std::shared_ptr<const AdaptiveWorld> world_;
};

/// The applications of the jobs, for the types of the cluster, measured in a folder with the layout
/// of data_sia.h. Profiles may use another name for a type (t4 aws, a100 dgx-ext, 2080ti rtx; "" is
/// the only type of a homogeneous cluster). Each job gets its work, its ranges of GPUs and of
/// batches, and its start costs.
[[nodiscard]] Result<std::shared_ptr<const AdaptiveWorld>> read_adaptive_world(
    const std::string& folder, const ClusterShape& cluster, const AdaptiveRules& rules,
    JobList& jobs);

}  // namespace rubato::sim
