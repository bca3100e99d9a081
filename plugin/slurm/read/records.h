// SPDX-License-Identifier: GPL-2.0-or-later
// Checks that the records of the running slurmctld have the sizes and magics of this build's
// headers. A similar but different release shifts fields silently.
#pragma once

#include <string>

#include "lib/base/error.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// Checks slurmctld's first partition, node, running job and pending job. Needs the read locks of
/// all of them. The error names the record and both sizes.
[[nodiscard]] Result<void> check_records();

/// Checks the job record and its details. Cheap: caches the first result.
[[nodiscard]] bool job_record_fits(const job_record_t& job);

}  // namespace rubato
