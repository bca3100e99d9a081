// SPDX-License-Identifier: GPL-2.0-or-later
// Assumptions of the simulators of Pollux (OSDI 2021) and Sia (SOSP 2023) besides the measurements.
// Apart from these, their loop is the same.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/sim/peers/adaptive_app.h"

namespace rubato::sim {

/// A GPU type for which policies plan an application with a smaller batch than was measured.
struct LessPlanned {
  int node_gpus = 0;          ///< GPUs per node
  std::int64_t measured = 0;  ///< largest batch per GPU
  std::int64_t planned = 0;
};

/// The rules of a simulator for an application.
struct AppRules {
  double restart = 30;         ///< seconds, also for the first start
  double policy_restart = 30;  ///< the policy's estimate of it
  double slowdown = 1;         ///< of the truth relative to the measurements
  std::int64_t max_local = 0;  ///< batch per GPU; 0: the largest measured
  LessPlanned less = {};
  double only_batch = 0;  ///< if policies choose batches: only this batch, on one GPU; 0: any
};

/// The rules of a simulator.
struct AdaptiveRules {
  /// A job restarts whenever its nodes change; else only if its GPUs per node or its type change.
  bool moves_restart = false;
  /// The batch limit per GPU depends on the placement: the largest batch measured there.
  bool by_placement = false;
  /// Limits of an application, found by its training and not by its name.
  const AppRules& (*of_app)(const AdaptiveApp& app) = nullptr;

  [[nodiscard]] const AppRules& of(const AdaptiveApp& app) const { return of_app(app); }
  /// Largest batch per GPU for the job's placement.
  [[nodiscard]] std::int64_t fits(const AdaptiveApp& app, TypeIndex type,
                                  const std::vector<int>& placement) const;
  /// Largest batch per GPU of a type that policies plan with.
  [[nodiscard]] std::int64_t planned(const AdaptiveApp& app, TypeIndex type) const;
  /// The split of a fixed global batch for the job's placement.
  [[nodiscard]] BatchSplit fixed(const AdaptiveApp& app, TypeIndex type,
                                 const std::vector<int>& placement, double batch) const;
  /// A policy's split, limited to what the job's GPUs allow.
  [[nodiscard]] BatchSplit bounded(const AdaptiveApp& app, TypeIndex type, int gpus,
                                   BatchSplit split) const;
};

/// 30 s for any restart; a move to other nodes is a restart.
[[nodiscard]] const AdaptiveRules& pollux_rules();
/// Restart costs and slowdowns per application; a move between nodes of a type costs nothing.
[[nodiscard]] const AdaptiveRules& sia_rules();

}  // namespace rubato::sim
