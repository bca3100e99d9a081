// SPDX-License-Identifier: GPL-2.0-or-later
// Reads from slurmctld what the rules of a resize need. All functions need LockKind::kAct.
#pragma once

#include "plugin/slurm/release/slurm_headers.h"
#include "plugin/slurm/write/resize_rules.h"

namespace rubato {

[[nodiscard]] ResizeFacts resize_facts(const job_record_t& job);

/// Ends the wait of a job for an answer of slurmdbd where there is none (waits_without_slurmdbd());
/// does nothing otherwise.
void end_wait_without_slurmdbd(job_record_t& job) noexcept;

/// The sorted indices of `nodes`; none if null.
[[nodiscard]] std::vector<int> indices_in(bitstr_t* nodes);

}  // namespace rubato
