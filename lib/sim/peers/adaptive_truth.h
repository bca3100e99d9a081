// SPDX-License-Identifier: GPL-2.0-or-later
// Ground truth of the simulators of Pollux and Sia, for whatever policy.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "lib/sim/engine/truth.h"
#include "lib/sim/peers/adaptive_app.h"
#include "lib/sim/peers/adaptive_rules.h"

namespace rubato::sim {

/// Applications by name, and the rules of the simulator that they are in.
struct AdaptiveWorld {
  std::map<std::string, AdaptiveApp> apps;
  const AdaptiveRules* rules = nullptr;
};

/// Work is progress, in iterations at the application's first batch. A setting without a batch has
/// the one its user set.
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
    int epoch = 0;
  };
  [[nodiscard]] Running running(const SimJob& job, const Setting& setting, double done) const;

  [[nodiscard]] const AdaptiveApp& app_of(const SimJob& job) const {
    return world_->apps.at(job.model);
  }

  std::shared_ptr<const AdaptiveWorld> world_;
};

/// The applications of the jobs, measured in a folder of the layout of data_sia.h, on the types of
/// the cluster. A type may also be called by what its GPUs are where the profiles use another name
/// (t4 aws, a100 dgx-ext, 2080ti rtx; "" is the only type of a homogeneous cluster). Each job gets
/// its work, its range of GPUs and of batches, and the cost of its starts.
[[nodiscard]] Result<std::shared_ptr<const AdaptiveWorld>> read_adaptive_world(
    const std::string& folder, const ClusterShape& cluster, const AdaptiveRules& rules,
    JobList& jobs);

}  // namespace rubato::sim
