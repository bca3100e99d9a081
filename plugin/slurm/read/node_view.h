// SPDX-License-Identifier: GPL-2.0-or-later
// Reads nodes and allocations from slurmctld's node table into a snapshot.
#pragma once

#include <vector>

#include "lib/core/node.h"
#include "lib/core/snapshot.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// Translates indices: the snapshot omits holes of the node table (deleted dynamic nodes).
struct NodeNumbers {
  std::vector<NodeIndex> of_slurm;  ///< by slurm index; none for a hole
  std::vector<int> to_slurm;        ///< slurm index by NodeIndex

  [[nodiscard]] NodeSet set_of(const bitstr_t* bitmap) const;
};

/// All nodes. GPUs are free if no GRES holds them. Cores and memory are all free; `take_allocation`
/// subtracts those of each job. Needs the node read lock.
[[nodiscard]] std::vector<Node> read_nodes(NodeNumbers& index);

/// The allocation of a running or suspended job, sorted by node.
[[nodiscard]] std::vector<NodeShare> allocation_of(const job_record_t& job,
                                                   const NodeNumbers& index);

/// The node of a job's batch script, if it has one and that is not the first of `shares`; else not
/// valid.
[[nodiscard]] NodeIndex batch_node_of(const job_record_t& job, const std::vector<NodeShare>& shares,
                                      const NodeNumbers& index);

/// Subtracts cores and memory of `shares` from `nodes` (slurmctld itself counts GPUs).
void take_allocation(const std::vector<NodeShare>& shares, std::vector<Node>& nodes);

}  // namespace rubato
