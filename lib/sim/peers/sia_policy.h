// SPDX-License-Identifier: GPL-2.0-or-later
// Sia (Jayaram Subramanya et al., SOSP 2023, section 3) in its own simulator: every minute one
// configuration (type, nodes, GPUs) a job, for the least sum of powers of normalised goodput.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "lib/sim/peers/adaptive_fit.h"
#include "lib/sim/peers/sia_loop.h"

namespace rubato::sim {

/// Some GPUs of a type: a power of two on one node, or whole nodes.
struct SiaConfiguration {
  int type = 0;
  int nodes = 1;
  int gpus = 1;

  bool operator==(const SiaConfiguration&) const = default;
};

/// One configuration a job at most: what minimises the sum of costs inside the GPUs of each type.
/// `costs` has a row a job and an entry a configuration; a row of none is worth 0, so only entries
/// below 0 are taken. Exact, by dynamic programming over what is free: O(jobs x configurations x
/// product of the types' GPUs). The answer has -1 for none. Of equals the first in the order of
/// jobs and configurations.
[[nodiscard]] std::vector<int> choose_configurations(
    const std::vector<std::vector<double>>& costs,
    const std::vector<SiaConfiguration>& configurations, const std::vector<int>& gpus);

class SiaOwn : public SiaPolicy {
 public:
  explicit SiaOwn(const ClusterShape& cluster);

  [[nodiscard]] double period() const override { return 60; }
  [[nodiscard]] std::vector<SiaGrant> decide(double now, std::span<SiaJob* const> active) override;
  void measured(SiaJob& job, const StepSeconds& step) override;
  [[nodiscard]] BatchSplit split(const SiaJob& job) const override;

 private:
  /// What a job has measured.
  struct Known {
    struct OnType {
      AdaptivePoints points;
      std::optional<AdaptiveModel> model;
      int most_gpus = 0;
    };
    std::vector<OnType> types;
    GradientStats gradient;
    bool any = false;
  };

  [[nodiscard]] std::vector<double> goodputs(const SiaJob& job, const Known& known) const;
  [[nodiscard]] std::vector<double> costs(double now, const SiaJob& job) const;
  [[nodiscard]] int held(const SiaJob& job) const;
  [[nodiscard]] std::vector<SiaGrant> place(const std::vector<int>& chosen) const;

  ClusterShape cluster_;
  std::vector<SiaConfiguration> configurations_;
  std::map<const SiaJob*, Known> known_;
};

}  // namespace rubato::sim
