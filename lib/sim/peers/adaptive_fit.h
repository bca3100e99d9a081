// SPDX-License-Identifier: GPL-2.0-or-later
// What the policies of Pollux (Qiao et al., OSDI 2021, section 4) and Sia (SOSP 2023) believe of a
// job's speed: their step-time model, fitted by their objective from their start. (Rubato's own
// model of the same family, lib/model/data_parallel/data_parallel.h, fits otherwise.)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "lib/sim/peers/adaptive_app.h"

namespace rubato::sim {

/// Parameters; seconds.
struct AdaptiveModel {
  double fixed = .1;        ///< of a pass
  double each = .01;        ///< of a pass, a sample of the local batch
  double far = .1;          ///< exchange between nodes
  double far_growth = .01;  ///< a GPU above two
  double near = .1;         ///< exchange inside a node
  double near_growth = .01;
  double overlap = 1.001;

  [[nodiscard]] double pass(double local) const { return fixed + each * local; }
  [[nodiscard]] double exchange(int nodes, int gpus) const;
  /// A pass with exchange.
  [[nodiscard]] double step(int nodes, int gpus, double local) const;
};

/// What was measured: nodes, GPUs, local batch.
using AdaptivePoints = std::map<std::tuple<int, int, std::int64_t>, StepSeconds>;

/// `points` is not empty. Parameters without measurements are fixed: exchange that was not seen is
/// free.
[[nodiscard]] AdaptiveModel fit_adaptive(const AdaptivePoints& points);

/// Batches to choose from.
struct BatchBounds {
  double first = 1;  ///< global batch that the application begins with
  double most = 1;   ///< global
  std::int64_t min_local = 1;
  std::int64_t max_local = 1;
};

struct BestSplit {
  BatchSplit split;
  double goodput = 0;  ///< progress in samples/s; 0: nothing is possible
};

/// The batch with most goodput of 50 in geometric progression; the first of equals.
[[nodiscard]] BestSplit best_split(const AdaptiveModel& model, const GradientStats& gradient,
                                   int nodes, int gpus, const BatchBounds& bounds);

}  // namespace rubato::sim
