// SPDX-License-Identifier: GPL-2.0-or-later
// Merges one running job into another: what select_p_job_expand() is to do.
//
// The function of stock Slurm takes the cores of all nodes for those of the first
// (common/job_resources.c, job_resources_bits_copy()), so that the others count as free and get a
// second job. It refuses GRES.
#pragma once

#include "plugin/slurm/release/slurm_headers.h"
#include "plugin/slurm/stock/select_ops.h"

namespace rubato {

/// Whether merge_jobs() can merge them. `with_gres`: also if they hold GRES.
[[nodiscard]] bool can_merge(const job_record_t& from, const job_record_t& to, bool with_gres);

/// `to` gets all nodes, cores, memory and GRES of `from`, which keeps nothing. `ops` are of the
/// stock plugin, which removes both jobs from its tables and enters the merged one. Needs
/// can_merge(). Throws std::bad_alloc, before it changes anything.
///
/// The request of `to` stays as it was submitted, except for the counts that steps are tested
/// against; stock Slurm lets a requeued job ask for the CPUs that it grew to.
void merge_jobs(job_record_t& from, job_record_t& to, const SelectOps& ops);

}  // namespace rubato
