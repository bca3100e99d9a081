// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "plugin/slurm/stock/slurm_headers.h"

namespace rubato {

/// Stock backfill ends a cycle after bf_max_job_test jobs that it tried to place, and it has just
/// counted `job`, which Rubato refuses to place there. Takes that one try back, so that the jobs
/// which only stock backfill starts are still reached. To be called in its thread, under its locks
/// (backfill.c _attempt_backfill: bf_last_depth_try is counted once a queue record).
void uncount_backfill_try(const job_record_t& job);

}  // namespace rubato
