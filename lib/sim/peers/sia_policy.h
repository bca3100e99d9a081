// SPDX-License-Identifier: GPL-2.0-or-later
// Sia (Jayaram Subramanya et al., SOSP 2023, section 3) as in its simulator. Every minute it
// chooses one configuration (type, nodes, GPUs) per job and minimises the sum of powers of
// normalised goodput.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/sim/engine/mersenne.h"
#include "lib/sim/peers/adaptive_fit.h"
#include "lib/sim/peers/adaptive_loop.h"
#include "lib/sim/solver/assignment_problem.h"

namespace rubato::sim {

/// Some GPUs of a type: a power of two on one node, or whole nodes.
struct SiaConfiguration {
  TypeIndex type = 0;
  int nodes = 1;
  int gpus = 1;

  bool operator==(const SiaConfiguration&) const = default;
};

class SiaOwn : public LoopPolicy {
 public:
  /// Many choices cost the same. `seed` draws which of them is taken; 0: the first jobs and types
  /// come first.
  SiaOwn(const AdaptiveRules& rules, const ClusterShape& cluster, std::uint64_t seed);

  [[nodiscard]] std::vector<LoopGrant> decide(double now,
                                              std::span<LoopJob* const> active) override;
  void measured(LoopJob& job, const StepSeconds& step) override;
  [[nodiscard]] BatchSplit split(const LoopJob& job) const override;
  [[nodiscard]] const std::string& failure() const override { return failure_; }

 private:
  /// The measurements of a job.
  struct Known {
    struct OnType {
      AdaptivePoints points;
      std::optional<AdaptiveModel> model;
      int max_gpus = 0;
    };
    std::vector<OnType> types;
    GradientStats gradient;
    bool any = false;
  };

  [[nodiscard]] std::vector<double> goodputs(const LoopJob& job, const Known& known) const;
  [[nodiscard]] std::vector<double> costs(double now, const LoopJob& job) const;
  void draw_order(std::vector<std::size_t>& jobs, std::vector<ColumnIndex>& columns);
  [[nodiscard]] ColumnIndex held(const LoopJob& job) const;
  [[nodiscard]] std::vector<LoopGrant> place(std::span<LoopJob* const> active,
                                             const std::vector<ColumnIndex>& chosen) const;

  ClusterShape cluster_;
  std::vector<SiaConfiguration> configurations_;  ///< the columns of the program
  std::map<const LoopJob*, Known> known_;
  std::optional<Mersenne> ties_;  ///< nullopt: in the given order
  std::string failure_;
};

}  // namespace rubato::sim
