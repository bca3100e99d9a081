// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of a fitted DataParallelModel. Internal to data_parallel.
#pragma once

#include <eigen3/Eigen/Cholesky>
#include <eigen3/Eigen/Core>
#include <optional>
#include <vector>

#include "lib/model/data_parallel/data_parallel.h"
#include "lib/model/data_parallel/data_parallel_family.h"

namespace rubato::data_parallel {

/// All samples of one configuration, merged.
struct StepObservation {
  DataParallelConfiguration at;
  std::size_t samples = 1;
  double log_step = 0;
  double disagreement = 0;         ///< largest distance of a sample from the median, in log space
  std::optional<double> log_pass;  ///< of the step minus its synchronisation
};

/// The logarithms of a configuration, by which it is near to others.
struct LogConfiguration {
  explicit LogConfiguration(const DataParallelConfiguration& at);

  double batch = 0;  ///< local
  double gpus = 0;
  double nodes = 0;
  double crowd = 0;     ///< GPUs of a node
  bool synced = false;  ///< on several GPUs
  bool across = false;  ///< on several nodes
};

/// Derivatives of the logarithm of an observation by the parameters.
struct Feature {
  explicit Feature(const DataParallelConfiguration& configuration)
      : at(configuration), log_at(configuration) {}

  DataParallelConfiguration at;
  LogConfiguration log_at;
  Logs slopes = {};    ///< by the logarithms of the family
  double of_pass = 1;  ///< by the deviation of the pass
  double of_sync = 0;  ///< by the deviation of the synchronisation
};

/// A deviation in log space: a Gaussian process over configurations, as weights of the
/// observations.
struct Deviation {
  Deviation() = default;
  Deviation(const std::vector<DataParallelConfiguration>& at, Eigen::VectorXd weights);

  std::vector<LogConfiguration> at;
  Eigen::VectorXd weights;
};

struct LatentState {
  DataParallelPrior prior;
  double reference = 1;  ///< local batch, samples
  std::array<Belief, kParameters> belief = {};
  Logs logs = {};
  DataParallelFamily family;
  Deviation pass;
  Deviation contention;
  Deviation sync;
  std::vector<StepObservation> measured;              ///< sorted by configuration
  std::vector<Feature> features;                      ///< one per observation
  std::optional<Eigen::LLT<Eigen::MatrixXd>> factor;  ///< of the covariance of observations
  std::vector<DataParallelFlag> flags;
  double error = 0;
};

/// The state without measurements; a typical pass takes `pass` seconds at `reference`.
[[nodiscard]] LatentState believed(const DataParallelPrior& prior, double reference, double pass);

/// Correlation of a deviation between two configurations, 0..1.
using Kernel = double (*)(const DataParallelPrior&, const LogConfiguration&,
                          const LogConfiguration&);
[[nodiscard]] double pass_kernel(const DataParallelPrior& prior, const LogConfiguration& a,
                                 const LogConfiguration& b);
[[nodiscard]] double contention_kernel(const DataParallelPrior& prior, const LogConfiguration& a,
                                       const LogConfiguration& b);
[[nodiscard]] double sync_kernel(const DataParallelPrior& prior, const LogConfiguration& a,
                                 const LogConfiguration& b);

/// Seconds, deviations included.
[[nodiscard]] double pass_seconds(const LatentState& state, const DataParallelConfiguration& at);
[[nodiscard]] double sync_seconds(const LatentState& state, const DataParallelConfiguration& at);

[[nodiscard]] Feature feature(const LatentState& state, const DataParallelConfiguration& at);
/// Prior covariance.
[[nodiscard]] double covariance(const LatentState& state, const Feature& a, const Feature& b);

}  // namespace rubato::data_parallel
