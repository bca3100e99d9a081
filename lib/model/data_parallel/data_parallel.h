// SPDX-License-Identifier: GPL-2.0-or-later
// Step time of data-parallel training, learnt from a few measured configurations.
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
  double local_batch = 1;  ///< samples a GPU and pass, above 0
  int gpus = 1;            ///< replicas, at least 1
  int nodes = 1;           ///< at least 1, at most gpus
};

/// What was measured there. Several of one place are joined (their median in log space).
struct DataParallelSample {
  DataParallelConfiguration at;
  double step_time = 0;                  ///< one pass with its synchronisation, seconds
  std::optional<double> sync_time = {};  ///< part of it that synchronisation added, seconds
};

/// ln(step time) is normal with mean ln(seconds) and standard deviation `stddev`.
struct DataParallelForecast {
  double seconds = 0;
  double stddev = 0;
  bool extrapolated = false;  ///< beyond twice the measured range, or other nodes or GPUs
};

/// Problems of a fit.
enum class DataParallelFlag {
  kFewConfigurations,  ///< fewer than 3 configurations: mostly the prior
  kOneBatch,           ///< one local batch only: how time grows with it is a belief
  kDropped,            ///< samples that are not above 0, not finite or absurd were left out
  kSyncOutside,        ///< a synchronisation as long as its step: not a part of it, so none is used
  kThinned,            ///< more configurations than a fit takes: only a part was used
  kContradictory,      ///< samples of one place, or of places alike, differ too much
};

/// One or two words, such as "contradictory".
[[nodiscard]] std::string_view to_string(DataParallelFlag flag);

/// Widths of the prior, as standard deviations of natural
/// logarithms: not fitted to any data.
struct DataParallelPrior {
  double compute = 0.1;         ///< time of a pass around a straight line over the local batch
  double compute_length = 1.0;  ///< length scale of that deviation, e-folds of the batch
  double contention = 0.1;      ///< of a pass at one size around that of the same batch at others
  double contention_length = 1.0;  ///< length scale, e-folds of batch, GPUs and nodes
  double sync = 0.4;               ///< synchronisation around a straight line over the replicas
  double sync_length = 1.0;        ///< length scale, e-folds of GPUs and of nodes
  double noise = 0.03;             ///< of a step time
  double sync_noise = 0.06;        ///< of a step time less its synchronisation
  bool correct = true;             ///< false: the straight lines alone
};

/// The parameters of the straight lines (Pollux, Qiao et al., OSDI 2021, section 4.1): a pass takes
/// `fixed` + `per_sample` * local batch; synchronisation takes `local` + `local_growth` * (gpus -
/// 2) inside a node, `remote` + `remote_growth` * (gpus - 2) across nodes, and nothing on one GPU;
/// a step takes (pass^overlap + synchronisation^overlap)^(1/overlap). Seconds.
struct DataParallelFamily {
  double fixed = 0;
  double per_sample = 0;
  double local = 0;
  double local_growth = 0;
  double remote = 0;
  double remote_growth = 0;
  double overlap = 1;
  double crowding = 0;  ///< a pass takes (gpus / nodes)^crowding times as long: they share the host
};

/// An immutable fit: the family, whose pass and synchronisation may each deviate from their line by
/// a Gaussian process in log space. So a measured configuration is forecast as it was measured, and
/// what lies far from all measured ones as the family says. Total: any samples give a model, any
/// place a finite forecast above 0 or none. Safe from several threads.
class DataParallelModel {
 public:
  /// Most places a fit uses, and one of straight lines alone.
  static constexpr std::size_t kMaxConfigurations = 96;
  static constexpr std::size_t kMaxPlain = 2048;

  /// The order of the samples does not matter. O(n^3) of n places.
  explicit DataParallelModel(std::span<const DataParallelSample> samples,
                             DataParallelPrior prior = {});
  ~DataParallelModel();
  DataParallelModel(DataParallelModel&&) noexcept;
  DataParallelModel& operator=(DataParallelModel&&) noexcept;

  /// Nothing usable was measured: nothing is forecast.
  [[nodiscard]] bool empty() const;
  /// One step: a pass and its synchronisation. None when empty or the place makes no sense. O(n^2)
  /// of n places.
  [[nodiscard]] std::optional<DataParallelForecast> step(const DataParallelConfiguration& at) const;
  /// `passes` (at least 1) of which only the last synchronises: gradient accumulation.
  [[nodiscard]] std::optional<DataParallelForecast> iteration(const DataParallelConfiguration& at,
                                                              int passes) const;
  /// As `iteration`, the mean alone, seconds; O(n). Infinite where there is no forecast.
  [[nodiscard]] double iteration_seconds(const DataParallelConfiguration& at, int passes) const;

  [[nodiscard]] const DataParallelFamily& family() const;
  /// Sorted.
  [[nodiscard]] const std::vector<DataParallelFlag>& flags() const;
  /// Places the fit uses.
  [[nodiscard]] std::size_t configurations() const;
  /// Root mean square of ln(forecast / measured) over them.
  [[nodiscard]] double error() const;

  /// Which of `candidates` to measure next, by choose_row; none when all are `taken`.
  [[nodiscard]] std::optional<std::size_t> most_informative_row(
      std::span<const DataParallelConfiguration> candidates, const std::vector<bool>& taken,
      std::span<const double> weights = {}) const;

 private:
  struct Fit;
  std::unique_ptr<const Fit> fit_;
};

/// Makes sense as a place.
[[nodiscard]] bool valid(const DataParallelConfiguration& at);

}  // namespace rubato
