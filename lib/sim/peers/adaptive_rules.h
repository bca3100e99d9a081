// SPDX-License-Identifier: GPL-2.0-or-later
// What the simulators of Pollux (OSDI 2021) and Sia (SOSP 2023) assume besides the
// measurements. Their loop is the same but for this.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/sim/peers/adaptive_app.h"

namespace rubato::sim {

/// A type of GPU that policies plan an application on with a smaller batch than was measured.
struct LessPlanned {
  int node_gpus = 0;          ///< GPUs per node
  std::int64_t measured = 0;  ///< largest batch per GPU
  std::int64_t planned = 0;
};

/// What a simulator knows of an application.
struct AppRules {
  double restart = 30;         ///< seconds, the first start too
  double policy_restart = 30;  ///< the policy's estimate of it
  double slowdown = 1;         ///< of the truth against the measurements
  std::int64_t max_local = 0;  ///< batch a GPU; 0: the largest measured
  LessPlanned less = {};
  double only_batch = 0;  ///< where batches are chosen: this one, on one GPU; 0: any
};

/// The rules of a simulator.
struct AdaptiveRules {
  /// A job restarts whenever it is on other nodes; else only where the GPUs on each change, or
  /// their type.
  bool moves_restart = false;
  /// The batch limit of a GPU depends on the placement: the largest batch measured there.
  bool by_placement = false;
  /// Limits of an application, by how it trains and not by its name.
  const AppRules& (*of_app)(const AdaptiveApp& app) = nullptr;

  [[nodiscard]] const AppRules& of(const AdaptiveApp& app) const { return of_app(app); }
  /// Largest batch a GPU where the job runs.
  [[nodiscard]] std::int64_t fits(const AdaptiveApp& app, int type,
                                  const std::vector<int>& placement) const;
  /// Largest batch a GPU of a type that policies plan with.
  [[nodiscard]] std::int64_t planned(const AdaptiveApp& app, int type) const;
  /// A fixed global batch where the job runs.
  [[nodiscard]] BatchSplit fixed(const AdaptiveApp& app, int type,
                                 const std::vector<int>& placement, double batch) const;
  /// A split that a policy chose, where the job runs.
  [[nodiscard]] BatchSplit bounded(const AdaptiveApp& app, int type, int gpus,
                                   BatchSplit split) const;
};

/// 30 s for any restart, on whatever other nodes.
[[nodiscard]] const AdaptiveRules& pollux_rules();
/// Restarts and slowdowns by application; which nodes of a type does not matter.
[[nodiscard]] const AdaptiveRules& sia_rules();

}  // namespace rubato::sim
