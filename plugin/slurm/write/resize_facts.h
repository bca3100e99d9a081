// SPDX-License-Identifier: GPL-2.0-or-later
// Reads from slurmctld what the rules of a resize need. All functions need LockKind::kAct.
#pragma once

#include "plugin/slurm/release/slurm_headers.h"
#include "plugin/slurm/write/resize_rules.h"

namespace rubato {

[[nodiscard]] ResizeFacts resize_facts(const job_record_t& job);

/// 22.05 sets db_index to "being stored" after each resize, and refuses updates until slurmdbd has
/// answered (job_mgr.c, job_post_resize_acctg and _update_job). Without slurmdbd no answer comes.
/// Ends that wait; does nothing otherwise.
void end_wait_without_slurmdbd(job_record_t& job) noexcept;

/// The sorted indices of `nodes`; none if null.
[[nodiscard]] std::vector<int> indices_in(bitstr_t* nodes);

}  // namespace rubato
