// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's node table -> nodes and allocations of a snapshot.
#pragma once

#include <vector>

#include "lib/core/node.h"
#include "lib/core/snapshot.h"
#include "plugin/slurm/stock/slurm_headers.h"

namespace rubato {

/// Index translation: the snapshot leaves out holes of the node table (deleted dynamic nodes).
struct NodeIndex {
  std::vector<int> of_slurm;  ///< slurm index -> snapshot index, -1 for a hole
  std::vector<int> to_slurm;  ///< snapshot index -> slurm index

  [[nodiscard]] NodeSet set_of(const bitstr_t* bitmap) const;
};

/// All nodes, with everything free that no GRES holds; cores and memory are taken by
/// `take_allocation` for each job. Under the node read lock.
[[nodiscard]] std::vector<Node> read_nodes(NodeIndex& index);

/// What a running or suspended job holds; sorted by node.
[[nodiscard]] std::vector<NodeShare> allocation_of(const job_record_t& job, const NodeIndex& index);

/// Takes cores and memory of `shares` from `nodes` (GPUs are counted by slurmctld itself).
void take_allocation(const std::vector<NodeShare>& shares, std::vector<Node>& nodes);

}  // namespace rubato
