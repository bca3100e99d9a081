// SPDX-License-Identifier: GPL-2.0-or-later
// Limits on a single job. slurmctld tests the helper job of a growth by itself: what it adds counts
// for limits on users, accounts and QOS, but no test sees the two jobs as one.
#pragma once

#include <vector>

#include "lib/base/error.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// Whether `job` (running) may hold what `helpers` (pending) request beside its own: MaxTRESPerJob
/// of its QOS and of that of its partition, MaxTRESPerJob of its associations, in the order of
/// acct_policy_job_runnable_post_select(), and MaxNodes of its partition. The error names the
/// limit. Needs LockKind::kAct.
[[nodiscard]] Result<void> fits_job_limits(const job_record_t& job,
                                           const std::vector<const job_record_t*>& helpers);

}  // namespace rubato
