// SPDX-License-Identifier: GPL-2.0-or-later
// Ground truth of the simulators of Pollux and Sia, for whatever policy.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "lib/sim/peers/adaptive_app.h"
#include "lib/sim/truth.h"

namespace rubato::sim {

/// Applications by name.
using AdaptiveApps = std::map<std::string, AdaptiveApp>;

/// How a fixed global batch is split where a job runs.
using FixedSplit = BatchSplit (*)(const AdaptiveApp& app, int type,
                                  const std::vector<int>& placement, double batch);

/// Work is progress, in iterations at the application's first batch. A setting without a batch has
/// the one its user set.
class AdaptiveTruth : public Truth {
 public:
  /// `slowdowns` of applications against the measurements; 1 where none is told.
  AdaptiveTruth(std::shared_ptr<const AdaptiveApps> apps, FixedSplit split,
                std::map<std::string, double> slowdowns = {})
      : apps_(std::move(apps)), split_(split), slowdowns_(std::move(slowdowns)) {}

  [[nodiscard]] double rate(const SimJob& job, const Setting& setting, double done) const override;
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

  std::shared_ptr<const AdaptiveApps> apps_;
  FixedSplit split_;
  std::map<std::string, double> slowdowns_;
};

/// The applications of the jobs, measured in a folder of the layout of data_sia.h, on the types of
/// the cluster. A type may also be called by what its GPUs are where the profiles use another name
/// (t4 aws, a100 dgx-ext, 2080ti rtx; "" is the only type of a homogeneous cluster). Each job gets
/// its work, its range of GPUs and of batches.
[[nodiscard]] Result<std::shared_ptr<const AdaptiveApps>> adaptive_apps(const std::string& folder,
                                                                        const ClusterShape& cluster,
                                                                        JobList& jobs);

}  // namespace rubato::sim
