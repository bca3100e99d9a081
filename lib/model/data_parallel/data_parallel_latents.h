// SPDX-License-Identifier: GPL-2.0-or-later
// Deviations from the straight lines at measured configurations, and their prior. Internal to
// data_parallel.
#pragma once

#include <eigen3/Eigen/Core>
#include <vector>

#include "lib/model/data_parallel/data_parallel_state.h"

namespace rubato::data_parallel {

/// The deviations at the observations, and the state of the linear model.
struct Latents {
  std::vector<DataParallelConfiguration> passes;  ///< distinct local batches
  std::vector<DataParallelConfiguration> syncs;   ///< distinct GPUs and nodes
  std::vector<Eigen::Index> pass_of;              ///< by configuration
  std::vector<Eigen::Index> sync_of;              ///< by configuration; -1: none
  std::vector<DataParallelConfiguration> configurations;
  Eigen::Index first_configuration = 0;  ///< index among the latents
  Eigen::MatrixXd prior;  ///< covariance: passes, synchronisations, contention by configuration
};

[[nodiscard]] Latents latents(const DataParallelPrior& prior,
                              const std::vector<StepObservation>& measured);

/// Factors of 2 relative to the prior.
struct Widths {
  double length = 0;
  double pass = 0;
  double sync = 0;
  double noise = 0;
};

/// All widths that are tried.
[[nodiscard]] std::vector<Widths> all_widths();

}  // namespace rubato::data_parallel
