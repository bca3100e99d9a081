// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// Stock backfill ends a cycle after it tried to place bf_max_job_test jobs. It has just counted
/// `job`, which Rubato refuses to place there. This call subtracts that attempt, so that backfill
/// still reaches the unmanaged jobs. Call it in backfill's thread, under its locks (backfill.c
/// _attempt_backfill: bf_last_depth_try is counted once per queue record).
void uncount_backfill_try(const job_record_t& job);

}  // namespace rubato
