// SPDX-License-Identifier: GPL-2.0-or-later
// The nodes of two jobs of which one is merged into the other.
#pragma once

#include <vector>

#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// For each node of the merged job, in the order of slurmctld's node table: its number among the
/// nodes of each job before; -1: not one of them.
struct MergedNodes {
  std::vector<int> in_to;
  std::vector<int> in_from;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(in_to.size()); }
};

/// Both jobs need job_resrcs.
[[nodiscard]] inline MergedNodes merged_nodes(const job_record_t& from, const job_record_t& to) {
  MergedNodes merged;
  int from_count = 0;
  int to_count = 0;
  for (int i = 0; i < bit_size(to.job_resrcs->node_bitmap); ++i) {
    const bool in_from = bit_test(from.job_resrcs->node_bitmap, i) != 0;
    const bool in_to = bit_test(to.job_resrcs->node_bitmap, i) != 0;
    if (!in_from && !in_to) continue;
    merged.in_from.push_back(in_from ? from_count++ : -1);
    merged.in_to.push_back(in_to ? to_count++ : -1);
  }
  return merged;
}

}  // namespace rubato
