// SPDX-License-Identifier: GPL-2.0-or-later
// The shape of a real cluster, from the snapshot of the last round.
#pragma once

#include <string>
#include <vector>

#include "lib/core/snapshot.h"
#include "lib/sim/engine/cluster_shape.h"

namespace rubato::sim {

struct SnapshotShape {
  ClusterShape cluster;
  std::vector<std::string> notes;  ///< sentences: properties that the shape leaves out
};

/// All nodes with GPUs, in any state; sorted by type, then larger nodes first. Nodes of one type
/// with different GPU counts form separate groups, TYPE-N, with NodeGroup::gpu TYPE. Cores and
/// memory of a group are those of its smallest node. A node with several GPU types counts as one
/// node per type; these share its cores and memory in proportion. A type without a name is `gpu`.
/// Fails if no node has GPUs.
[[nodiscard]] Result<SnapshotShape> shape_of(const Snapshot& snapshot);

}  // namespace rubato::sim
