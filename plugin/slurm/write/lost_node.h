// SPDX-License-Identifier: GPL-2.0-or-later
// Repairs what stock Slurm leaves wrong when a running job loses a node.
#pragma once

#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// A node that the stock plugin's select_p_job_resized() is about to take from a job.
///
/// Slurm moves the arrays of gres_list_alloc, which have an element per node of the job, but not
/// those of gres_list_req, from which a restarted slurmctld allocates GRES again
/// (cons_common/job_resources.c, job_res_add_job). After the loss of a node in the middle it then
/// books other GPUs than the job uses. Slurm 22.05 does not move the arrays of steps either. Later
/// releases do (rebuild_step_bitmaps), except for their counts.
class LostNode {
 public:
  /// Call before the stock plugin removes the node. Allocates nothing.
  LostNode(const job_record_t& job, const node_record_t& node) noexcept;

  /// Call after it. Does nothing if it did not remove the node. Uses Slurm's memory alone.
  void repair(job_record_t& job) const noexcept;

 private:
  [[nodiscard]] bool removed(const job_record_t& job) const noexcept;

  int offset_ = -1;      ///< among the nodes of the job; -1: not one of them
  int first_core_ = -1;  ///< in the job's core bitmap; -1: unknown
  int cores_ = 0;
  int all_cores_ = 0;  ///< size of the core bitmap
  std::uint32_t nodes_ = 0;
};

/// Fills the arrays of gres_list_req from gres_list_alloc. Shards and MPS are left as they are.
void rebuild_request_arrays(job_record_t& job) noexcept;

}  // namespace rubato
