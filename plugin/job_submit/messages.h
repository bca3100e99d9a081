// SPDX-License-Identifier: GPL-2.0-or-later
// Messages of running jobs: updates of the comment that start with `rubato!`. The hook removes them
// from the update, so that the comment does not change.
#pragma once

#include <string>

#include "lib/config/config.h"
#include "plugin/common/pair.h"
#include "plugin/slurm/stock/return_codes.h"
#include "plugin/slurm/write/submission.h"

namespace rubato {

/// Answer to scontrol. Slurm 22.05 has no text for an update that a plugin refuses. The sender gets
/// `code`; `why` goes to slurmctld's log.
struct MessageAnswer {
  int code = kSlurmSuccess;
  std::string why;
};

/// Handles an update whose comment is a message. Removes the comment from `update`, unless it
/// refuses the message. Drops reports that come too soon or find the queue full, and answers them
/// with success. O(1): never blocks and opens no file.
[[nodiscard]] MessageAnswer take_message(JobUpdate& update, const Config& config, Pair& pair);

}  // namespace rubato
