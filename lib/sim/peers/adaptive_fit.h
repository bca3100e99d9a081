// SPDX-License-Identifier: GPL-2.0-or-later
// The step-time model of the policies of Pollux (Qiao et al., OSDI 2021, section 4) and Sia (SOSP
// 2023), fitted with their objective from their start values. (Rubato's own model of the same
// family, lib/model/data_parallel/data_parallel.h, has another fit.)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "lib/sim/peers/adaptive_app.h"

namespace rubato::sim {

/// Parameters; seconds.
struct AdaptiveModel {
  double fixed = .1;        ///< per pass
  double each = .01;        ///< per pass and sample of the local batch
  double far = .1;          ///< exchange between nodes
  double far_growth = .01;  ///< per GPU above two
  double near = .1;         ///< exchange inside a node
  double near_growth = .01;
  double overlap = 1.001;

  [[nodiscard]] double pass(double local) const { return fixed + each * local; }
  [[nodiscard]] double exchange(int nodes, int gpus) const;
  /// Seconds of a pass with exchange.
  [[nodiscard]] double step(int nodes, int gpus, double local) const;
};

/// Measurements by nodes, GPUs and local batch.
using AdaptivePoints = std::map<std::tuple<int, int, std::int64_t>, StepSeconds>;

/// `points` must not be empty. Parameters without measurements are fixed: an exchange that was not
/// measured costs 0. `reduction`: where the artifact's fit stops (QuasiNewtonRules).
[[nodiscard]] AdaptiveModel fit_adaptive(const AdaptivePoints& points, double reduction);

/// The batches to choose from.
struct BatchBounds {
  double first = 1;  ///< initial global batch of the application
  double most = 1;   ///< global
  std::int64_t min_local = 1;
  std::int64_t max_local = 1;
};

struct BestSplit {
  BatchSplit split;
  double goodput = 0;  ///< progress in samples/s; 0: no batch is possible
};

/// The batch with the highest goodput among 50 in geometric progression; the first if equal.
[[nodiscard]] BestSplit best_split(const AdaptiveModel& model, const GradientStats& gradient,
                                   int nodes, int gpus, const BatchBounds& bounds);

}  // namespace rubato::sim
