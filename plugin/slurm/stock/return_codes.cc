// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/stock/return_codes.h"

#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

static_assert(kSlurmSuccess == SLURM_SUCCESS && kSlurmError == SLURM_ERROR);
static_assert(kAccessDenied == ESLURM_ACCESS_DENIED);
static_assert(kJobNotRunning == ESLURM_JOB_NOT_RUNNING);
static_assert(kJobSuspended == ESLURM_JOB_SUSPENDED);
static_assert(kNotSupported == ESLURM_NOT_SUPPORTED);

}  // namespace rubato
