// SPDX-License-Identifier: GPL-2.0-or-later
// The submit hook: checks hints, receives messages, and tells the gate of immediate requests.
#pragma once

#include <string>

#include "plugin/common/pair.h"
#include "plugin/slurm/write/submission.h"

namespace rubato {

/// Handles a submission by `uid`. Returns the code for slurmctld. Sets `error` to the text that
/// sbatch prints, or leaves it unchanged.
[[nodiscard]] int on_submit(Pair& pair, Submission& job, std::uint32_t uid, std::string& error);

/// Handles an update of a job. Returns the code for slurmctld. Sets `error` to the reason of a
/// refusal, which scontrol prints from Slurm 24.11 on.
[[nodiscard]] int on_modify(Pair& pair, JobUpdate& update, std::string& error);

/// The code for an update with this comment (null: none) whose on_modify() failed. slurmctld would
/// store a message as the comment of the job, and overwrite the job's hints: it is refused.
[[nodiscard]] int answer_without_memory(const char* comment) noexcept;

}  // namespace rubato
