// SPDX-License-Identifier: GPL-2.0-or-later
// Data-parallel training with variable batches, as modelled by the simulators of Pollux (OSDI 2021)
// and Sia (SOSP 2023): measured step times and gradient statistics, interpolated.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/sim/engine/cluster_shape.h"
#include "lib/sim/peers/simplices.h"
#include "lib/validate/data_sia.h"

namespace rubato::sim {

/// How the batch of a job is split.
struct BatchSplit {
  std::int64_t local = 0;   ///< samples per GPU and pass
  std::int64_t passes = 0;  ///< accumulation passes before the one that exchanges gradients

  bool operator==(const BatchSplit&) const = default;
};

/// Seconds of an iteration without accumulation, and of its gradient exchange.
struct StepSeconds {
  double step = 0;
  double sync = 0;

  /// Seconds of an iteration with accumulation passes, which exchange nothing.
  [[nodiscard]] double with(std::int64_t passes) const {
    return step + static_cast<double>(passes) * (step - sync);
  }
};

/// Statistics of the gradient.
struct GradientStats {
  double sqr = 0;
  double var = 0;
};

/// Step times of an application on one GPU type.
class StepTable {
 public:
  explicit StepTable(const SiaProfile& profile);

  /// Step time at the smallest rotation of the placement, linear between the batches measured
  /// there. Otherwise as in the originals: between means of the measured sizes, on the Delaunay
  /// triangulation of nodes, GPUs and batch. Outside it: on fewer and on more nodes with the same
  /// GPUs per node. Outside the measurements: the nearest one.
  [[nodiscard]] StepSeconds at(const std::vector<int>& placement, double local) const;
  /// Largest measured batch per GPU at this placement, else at the next larger one.
  [[nodiscard]] std::int64_t fits(const std::vector<int>& placement) const;
  /// Largest measured batch per GPU at any placement of `gpus` GPUs; 0 if none.
  [[nodiscard]] std::int64_t fits_gpus(int gpus) const;

  /// Whether this placement (GPUs on each node) was measured.
  [[nodiscard]] bool measured(const std::vector<int>& placement) const {
    return placements_.contains(placement);
  }

  [[nodiscard]] std::int64_t least() const { return least_; }
  [[nodiscard]] std::int64_t most() const { return most_; }
  /// The largest batch of a pass over the longest step time, on one GPU.
  [[nodiscard]] double single_throughput() const { return single_throughput_; }

 private:
  /// Step and sync by batch, ascending.
  using Curve = std::vector<std::pair<double, StepSeconds>>;
  using Size = std::pair<int, int>;  ///< nodes, GPUs

  [[nodiscard]] static StepSeconds along(const Curve& curve, double local);
  [[nodiscard]] StepSeconds on_nodes(int nodes, double gpus, double local) const;
  /// The points of the triangulation.
  void add_point(int nodes, int gpus, double local, const StepSeconds& seconds);

  std::map<std::vector<int>, Curve> placements_;
  std::vector<Simplices::Point> points_;  ///< nodes, GPUs, batch per GPU
  std::vector<StepSeconds> at_points_;
  std::shared_ptr<const Simplices> simplices_;
  std::map<int, std::map<int, Curve>> sizes_;  ///< by nodes, then GPUs
  std::map<Size, std::int64_t> scalability_;   ///< largest batch
  std::map<int, std::int64_t> by_gpus_;
  std::int64_t least_ = 0;
  std::int64_t most_ = 0;
  double single_throughput_ = 0;
};

/// An application with its step tables.
class AdaptiveApp {
 public:
  /// `types` are in the cluster's order, with the names in the profiles. Fails if one is missing,
  /// or if the training statistics are.
  [[nodiscard]] static Result<AdaptiveApp> make(const SiaApp& app,
                                                const std::vector<std::string>& types);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const StepTable& table(TypeIndex type) const { return tables_[type]; }
  [[nodiscard]] std::size_t types() const { return tables_.size(); }
  [[nodiscard]] std::int64_t first_batch() const { return trainings_.front().batch; }
  [[nodiscard]] std::int64_t most_batch() const { return trainings_.back().batch; }
  [[nodiscard]] std::size_t epochs() const { return bounds_.size() - 1; }
  /// Progress after a number of epochs, in iterations at the first batch: the minimum over all
  /// batches.
  [[nodiscard]] double progress_after(std::size_t epochs) const { return bounds_[epochs]; }
  /// Gradient statistics in an epoch (from 0) at a global batch, linear between measured batches.
  [[nodiscard]] GradientStats gradient(double batch, std::size_t epoch) const;
  /// Iterations until the end of an epoch at a measured global batch; else at the next larger one.
  [[nodiscard]] double iterations(double batch, std::size_t epoch) const;
  /// Progress of one iteration.
  [[nodiscard]] double gain(double batch, std::size_t epoch) const;

 private:
  std::string name_;
  std::vector<StepTable> tables_;
  std::vector<SiaTraining> trainings_;
  std::vector<double> bounds_;
};

/// Splits a fixed global batch, limited to `most`, over `gpus` GPUs with at most `fits` samples
/// each. `apart`: one GPU accumulates when the batch exceeds the first.
[[nodiscard]] BatchSplit split_batch(double batch, int gpus, std::int64_t fits, std::int64_t most,
                                     bool apart);

}  // namespace rubato::sim
