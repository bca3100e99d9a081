// SPDX-License-Identifier: GPL-2.0-or-later
// Models of Rubick's simulator: true times, and the times that its policy predicts.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/validate/data_rubick.h"

namespace rubato::sim {

/// Some nodes with the same number of GPUs each.
struct RubickShape {
  int nodes = 0;
  int gpus = 0;  ///< per node
};

/// A model as the policy of the artifact sees it.
struct RubickKind {
  std::string_view name;
  double batch = 1;      ///< samples per iteration
  double reference = 1;  ///< samples/s; the unit of slopes
  /// Predicted samples/s at 1, 2, 4, 8 GPUs with one core each, from its performance model.
  std::array<double, 4> believed{};
  /// Shapes of a model that can span nodes, in the order tried; empty for models that stay on one
  /// node.
  std::vector<RubickShape> shapes;

  [[nodiscard]] bool large() const { return !shapes.empty(); }
  /// -1 outside 1..8 GPUs, as in the artifact. Sizes that do not divide the batch use the next
  /// smaller size that does.
  [[nodiscard]] double throughput(int gpus) const;
};

/// The number of `gpus` GPUs (0..8) that a data-parallel model uses.
[[nodiscard]] int rubick_used(int gpus);

/// The model of that name; the error names the nearest.
[[nodiscard]] Result<const RubickKind*> rubick_kind(const std::string& name);

/// True seconds of an iteration. The simulator finds the plan it looks up (ZeRO data parallelism)
/// only on one node. Otherwise it takes the mean over all plans measured at that number of nodes
/// and GPUs.
class RubickTimes {
 public:
  explicit RubickTimes(const RubickData& data);
  /// Errors name the missing measurement.
  [[nodiscard]] Result<double> seconds(const std::string& app, const RubickShape& shape) const;
  /// Seconds on this many GPUs and nodes; else on the nearest node count (the larger one if equal)
  /// where this GPU count was measured. nullopt: not measured.
  [[nodiscard]] std::optional<double> nearest(const std::string& app, int nodes, int gpus) const;
  /// Seconds of an iteration with the user's plan on that many GPUs of one node. Without such a
  /// measurement that of gradient accumulation, else the mean over all plans there. nullopt: not
  /// measured.
  [[nodiscard]] std::optional<double> asked(const std::string& app, const std::string& plan,
                                            int gpus) const;

 private:
  struct Cell {
    double sharded = 0;  ///< ZeRO data parallelism; 0: not measured
    double sum = 0;
    int rows = 0;

    [[nodiscard]] double seconds() const { return sharded > 0 ? sharded : sum / rows; }
  };
  std::map<std::pair<std::string, std::pair<int, int>>, Cell> cells_;
  /// By application, plan and GPUs, on one node.
  std::map<std::tuple<std::string, std::string, int>, double> plans_;
};

}  // namespace rubato::sim
