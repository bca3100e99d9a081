// SPDX-License-Identifier: GPL-2.0-or-later
// The shape of a simulated cluster: "t4:6x4,a100:2x8" is 6 nodes with 4 GPUs of type t4 and 2 nodes
// with 8 of type a100.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/index.h"

namespace rubato::sim {

/// A GPU type: an index into ClusterShape::groups.
using TypeIndex = Index<struct NodeGroupTag>;
/// A node: its index in its group, from 0.
using GroupNodeIndex = Index<struct GroupNodeTag>;

/// A group of identical nodes.
struct NodeGroup {
  std::string type;  ///< GPU type
  int nodes = 0;
  int gpus_per_node = 0;
  int cores = 0;    ///< per node; 0: unlimited
  long memory = 0;  ///< MiB per node; 0: unlimited
  std::string gpu;  ///< the type's name in Slurm; "": same as `type`

  /// `nodes`, for subscripts and sizes of containers.
  [[nodiscard]] std::size_t node_count() const { return static_cast<std::size_t>(nodes); }
  [[nodiscard]] IndexRange<GroupNodeIndex> node_indices() const {
    return indices<GroupNodeIndex>(node_count());
  }
  bool operator==(const NodeGroup&) const = default;
};

/// Groups keep the order given, which is also the order of GPU types. GPUs of one type on different
/// interconnects form separate groups, TYPE@CLASS. A job never spans two groups.
struct ClusterShape {
  std::vector<NodeGroup> groups;

  [[nodiscard]] std::size_t types() const { return groups.size(); }
  [[nodiscard]] IndexRange<TypeIndex> type_indices() const { return indices<TypeIndex>(groups); }
  [[nodiscard]] int gpus() const;
  [[nodiscard]] int gpus(TypeIndex type) const;
  [[nodiscard]] int nodes() const;
  /// Not valid(): unknown.
  [[nodiscard]] TypeIndex type_of(std::string_view name) const;
  /// Text that parse_cluster_shape() reads.
  [[nodiscard]] std::string text() const;
  bool operator==(const ClusterShape&) const = default;
};

/// "TYPE[@CLASS]:NODESxGPUS[/CORES[/MEMORY]],...": CLASS names the interconnect; CORES and MEMORY
/// are per node; MEMORY takes K, M, G or T (else M). Errors: "cluster:COLUMN: ..." with the word
/// and the expected form.
[[nodiscard]] Result<ClusterShape> parse_cluster_shape(std::string_view text);

}  // namespace rubato::sim
