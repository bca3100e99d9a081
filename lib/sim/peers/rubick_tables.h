// SPDX-License-Identifier: GPL-2.0-or-later
// Models of Rubick's simulator: true times, and the times its policy believes.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/validate/data_rubick.h"

namespace rubato::sim {

/// Some nodes with as many GPUs each.
struct RubickShape {
  int nodes = 0;
  int gpus = 0;  ///< per node
};

/// A model as the policy of the artifact sees it.
struct RubickKind {
  std::string_view name;
  double reference = 1;  ///< samples/s that slopes are measured in
  /// Believed samples/s at 1, 2, 4, 8 GPUs with one core each, as its performance model gives them.
  std::array<double, 4> believed{};
  /// What a model that spans nodes may have, in the order it is tried; empty for the others, which
  /// stay on one node.
  std::vector<RubickShape> shapes;

  [[nodiscard]] bool large() const { return !shapes.empty(); }
  /// -1 beyond 1..8 GPUs, as the artifact has it. Between sizes that divide the batch it is that of
  /// the next one below.
  [[nodiscard]] double throughput(int gpus) const;
};

/// GPUs that a data-parallel model uses of `gpus` (0..8).
[[nodiscard]] int rubick_used(int gpus);

/// The kind of that name; an error names the nearest.
[[nodiscard]] Result<const RubickKind*> rubick_kind(const std::string& name);

/// True seconds of an iteration. The simulator's look-up finds the plan it asks for (ZeRO data
/// parallelism) only on one node; else it takes the plain mean over all plans that were measured
/// at that number of nodes and GPUs.
class RubickTimes {
 public:
  explicit RubickTimes(const RubickData& data);
  /// Errors name the missing measurement.
  [[nodiscard]] Result<double> seconds(const std::string& app, const RubickShape& shape) const;
  /// On so many GPUs of so many nodes; else on the nearest number of nodes (of two the larger one)
  /// on which as many GPUs were measured. None: they were not.
  [[nodiscard]] std::optional<double> nearest(const std::string& app, int nodes, int gpus) const;

 private:
  struct Cell {
    double sharded = 0;  ///< of ZeRO data parallelism, 0 where it was not measured
    double sum = 0;
    int rows = 0;

    [[nodiscard]] double seconds() const { return sharded > 0 ? sharded : sum / rows; }
  };
  std::map<std::pair<std::string, std::pair<int, int>>, Cell> cells_;
};

}  // namespace rubato::sim
