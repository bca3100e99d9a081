// SPDX-License-Identifier: GPL-2.0-or-later
// Step time of data-parallel training, fitted to a few measured configurations.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace rubato {

/// A configuration of data-parallel training on one GPU type.
struct DataParallelConfiguration {
  double local_batch = 1;  ///< samples per GPU and pass, above 0
  int gpus = 1;            ///< replicas, at least 1
  int nodes = 1;           ///< at least 1, at most gpus
};

/// A measurement. Samples of one configuration are merged (their median in log space).
struct DataParallelSample {
  DataParallelConfiguration at;
  double step_time = 0;                  ///< one pass with its synchronisation, seconds
  std::optional<double> sync_time = {};  ///< the part added by synchronisation, seconds
};

/// ln(step time) is normal with mean ln(seconds) and standard deviation `stddev`.
struct DataParallelForecast {
  double seconds = 0;
  double stddev = 0;
  bool extrapolated = false;  ///< beyond twice the measured range, or at unmeasured nodes or GPUs
};

/// Problems of a fit.
enum class DataParallelFlag {
  kFewConfigurations,  ///< fewer than 3 configurations: mostly the prior
  kOneBatch,           ///< one local batch only: growth with the batch comes from the prior
  kDropped,            ///< dropped samples that are not above 0, not finite or absurd
  kSyncOutside,        ///< synchronisation as long as its step, so not a part of it: none is used
  kThinned,            ///< more configurations than the limit: only some were used
  kContradictory,      ///< samples of equal or similar configurations differ too much
};

/// One or two words, such as "contradictory".
[[nodiscard]] std::string_view to_string(DataParallelFlag flag);

/// The prior, as standard deviations of natural logarithms. Not fitted to data.
struct DataParallelPrior {
  double compute = 0.1;         ///< deviation of a pass from a straight line over the local batch
  double compute_length = 1.0;  ///< length scale of that deviation, in e-folds of the batch
  double contention = 0.1;      ///< deviation of a pass at one size from that of the same batch at
                                ///< others
  double contention_length = 1.0;  ///< length scale, e-folds of batch, GPUs and nodes
  double sync = 0.4;               ///< deviation of synchronisation from a straight line over the
                                   ///< replicas
  double sync_length = 1.0;        ///< length scale, e-folds of GPUs and of nodes
  double noise = 0.03;             ///< of a step time
  double sync_noise = 0.06;        ///< of a step time minus its synchronisation
  bool correct = true;             ///< false: only the straight lines
};

/// The parameters of the straight lines (Pollux, Qiao et al., OSDI 2021, section 4.1). A pass takes
/// `fixed` + `per_sample` * local batch. Synchronisation takes `local` + `local_growth` * (gpus -
/// 2) inside a node, `remote` + `remote_growth` * (gpus - 2) across nodes, and 0 on one GPU. A step
/// takes (pass^overlap + synchronisation^overlap)^(1/overlap). All in seconds.
struct DataParallelFamily {
  double fixed = 0;
  double per_sample = 0;
  double local = 0;
  double local_growth = 0;
  double remote = 0;
  double remote_growth = 0;
  double overlap = 1;
  double crowding = 0;  ///< GPUs share the host: a pass takes (gpus / nodes)^crowding times as long
};

/// An immutable fit of the family. Pass and synchronisation may each deviate from their line by a
/// Gaussian process in log space. Forecasts thus match measurements near measured configurations,
/// and the family far from them. Any samples give a model. Any configuration gives a finite
/// forecast above 0 or none. Thread-safe.
class DataParallelModel {
 public:
  /// Maximum number of configurations in a fit; the second for straight lines only.
  static constexpr std::size_t kMaxConfigurations = 96;
  static constexpr std::size_t kMaxPlain = 2048;

  /// The order of samples does not matter. O(n^3) for n configurations.
  explicit DataParallelModel(std::span<const DataParallelSample> samples,
                             DataParallelPrior prior = {});
  ~DataParallelModel();
  DataParallelModel(DataParallelModel&&) noexcept;
  DataParallelModel& operator=(DataParallelModel&&) noexcept;

  /// True if no sample was usable: there are no forecasts.
  [[nodiscard]] bool empty() const;
  /// One step: a pass and its synchronisation. nullopt if the model is empty or the configuration
  /// invalid. O(n^2) for n configurations.
  [[nodiscard]] std::optional<DataParallelForecast> step(const DataParallelConfiguration& at) const;
  /// `passes` (at least 1), of which only the last synchronises: gradient accumulation.
  [[nodiscard]] std::optional<DataParallelForecast> iteration(const DataParallelConfiguration& at,
                                                              int passes) const;
  /// As `iteration`, only the mean, seconds; O(n). Infinite if there is no forecast.
  [[nodiscard]] double iteration_seconds(const DataParallelConfiguration& at, int passes) const;

  [[nodiscard]] const DataParallelFamily& family() const;
  /// Sorted.
  [[nodiscard]] const std::vector<DataParallelFlag>& flags() const;
  /// Number of configurations used in the fit.
  [[nodiscard]] std::size_t configurations() const;
  /// Root mean square of ln(forecast / measured) over them.
  [[nodiscard]] double error() const;

  /// The candidate to measure next, by choose_row; nullopt if all are `taken`.
  [[nodiscard]] std::optional<std::size_t> most_informative_row(
      std::span<const DataParallelConfiguration> candidates, const std::vector<bool>& taken,
      std::span<const double> weights = {}) const;

 private:
  struct Fit;
  std::unique_ptr<const Fit> fit_;
};

/// True for a valid configuration.
[[nodiscard]] bool valid(const DataParallelConfiguration& at);

}  // namespace rubato
