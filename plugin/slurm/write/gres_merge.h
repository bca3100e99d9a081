// SPDX-License-Identifier: GPL-2.0-or-later
// The GRES part of the merge of one running job into another.
//
// Slurm's own gres_ctld_job_merge() reads its arrays at the wrong index, pours GRES of different
// types together and does not add totals (22.05: slurmctld/gres_ctld.c; 24.11:
// stepmgr/gres_stepmgr.c). Nodes count the same GRES as taken before and after the merge, so only
// the records of jobs and steps change.
#pragma once

#include "plugin/slurm/write/merged_nodes.h"

namespace rubato {

/// Whether the merge is possible: all that `from` holds is of a kind and type that `to` holds too,
/// and the arrays of both have an element per node.
[[nodiscard]] bool gres_can_merge(const job_record_t& from, const job_record_t& to) noexcept;

/// Gives to `to` all that `from` holds, whose lists are then gone. `to` must have its new
/// job_resrcs. The counts of its request rise with what it holds, for steps are tested against
/// them. Uses Slurm's memory alone and cannot fail after gres_can_merge().
void merge_gres(job_record_t& from, job_record_t& to, const MergedNodes& nodes) noexcept;

}  // namespace rubato
