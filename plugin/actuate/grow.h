// SPDX-License-Identifier: GPL-2.0-or-later
// Gives a running job more GPUs while it runs.
#pragma once

#include <string>
#include <vector>

#include "lib/base/error.h"
#include "plugin/common/pair.h"
#include "plugin/slurm/write/live_growth.h"

namespace rubato {

/// The running job gets `shares` of GPUs of `gpu_type`: a helper job for each, all of them started
/// before the first is merged. So association and QOS limits, reservations and everything else that
/// slurmctld tests at a start hold for what is added.
///
/// An error says why not; the job then has what it had, except if the text says how many GPUs it
/// has now. Needs LockKind::kAct, one hold for the whole growth.
[[nodiscard]] Result<void> grow_job(const JobKey& job, const std::vector<AddedShare>& shares,
                                    const std::string& gpu_type, Pair& pair);

}  // namespace rubato
