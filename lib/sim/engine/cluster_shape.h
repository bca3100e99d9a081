// SPDX-License-Identifier: GPL-2.0-or-later
// The shape of a simulated cluster: "t4:6x4,a100:2x8" is 6 nodes with 4 GPUs of type t4 and 2 nodes
// with 8 of type a100.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"

namespace rubato::sim {

/// Nodes that are alike.
struct NodeGroup {
  std::string type;  ///< of its GPUs
  int nodes = 0;
  int gpus_per_node = 0;
  int cores = 0;    ///< a node; 0: never short
  long memory = 0;  ///< MiB a node; 0: never short
  std::string gpu;  ///< the type's name in Slurm; "": same as `type`

  bool operator==(const NodeGroup&) const = default;
};

/// The groups in the order given, which is that of the types wherever it matters. GPUs of one type
/// on another interconnect are a group of their own, TYPE@CLASS; no job is on two groups.
struct ClusterShape {
  std::vector<NodeGroup> groups;

  [[nodiscard]] int types() const { return static_cast<int>(groups.size()); }
  [[nodiscard]] int gpus() const;
  [[nodiscard]] int gpus(int type) const;
  [[nodiscard]] int nodes() const;
  /// -1: no such type.
  [[nodiscard]] int type_of(std::string_view name) const;
  /// As parse_cluster_shape takes it.
  [[nodiscard]] std::string text() const;
  bool operator==(const ClusterShape&) const = default;
};

/// "TYPE[@CLASS]:NODESxGPUS[/CORES[/MEMORY]],...": CLASS of interconnect, cores of a node, memory
/// with K, M, G or T (else M). Errors: "cluster:COLUMN: ..." with the word and the expected form.
[[nodiscard]] Result<ClusterShape> parse_cluster_shape(std::string_view text);

}  // namespace rubato::sim
