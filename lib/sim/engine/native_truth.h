// SPDX-License-Identifier: GPL-2.0-or-later
// Throughputs of jobs of the native format.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "lib/base/error.h"
#include "lib/sim/engine/step_truth.h"

namespace rubato::sim {

/// Uses the job's own step times, else a table of throughputs. A model without a row does one
/// second of work per second at the requested size.
class NativeTruth final : public StepTruth {
 public:
  explicit NativeTruth(std::size_t types) : throughputs_(types) {}

  /// `own`: the row names this interconnect; it takes precedence over the row for all
  /// interconnects.
  void add(const std::string& model, TypeIndex type, int gpus, double throughput, bool own) {
    models_.insert(model);
    auto& throughputs = throughputs_[type][model];
    if (own) own_.emplace(type, model, gpus);
    if (own || !own_.contains({type, model, gpus})) throughputs[gpus] = throughput;
  }
  [[nodiscard]] bool knows(const std::string& model) const { return models_.contains(model); }
  /// Records that the model has a row, even if the cluster lacks its GPU type.
  void mention(const std::string& model, const std::string& type) { said_[model].insert(type); }
  [[nodiscard]] const std::map<std::string, std::set<std::string>>& said() const { return said_; }

  [[nodiscard]] double throughput(const SimJob& job, const Setting& setting,
                                  double done) const override;

 private:
  std::set<std::string> models_;
  std::map<std::string, std::set<std::string>> said_;  ///< types by model
  std::set<std::tuple<TypeIndex, std::string, int>> own_;
  std::vector<std::map<std::string, std::map<int, double>>> throughputs_;
};

/// Reads a table of throughputs for the types of `cluster`.
[[nodiscard]] Result<void> read_speeds(const std::string& file, const ClusterShape& cluster,
                                       NativeTruth& truth);
/// The names of the cluster's GPU types.
[[nodiscard]] std::vector<std::string> type_names(const ClusterShape& cluster);
/// Error text for a model without a throughput, with the nearest known name. `profiles`: whether
/// profiles were given.
[[nodiscard]] std::string no_speed(const NativeTruth& truth, const ClusterShape& cluster,
                                   const std::string& model, bool profiles);

}  // namespace rubato::sim
