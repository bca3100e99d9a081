// SPDX-License-Identifier: GPL-2.0-or-later
// Records made by the running slurmctld must have the sizes and magics of the headers this build
// saw: a release that is near but not equal shifts fields silently.
#pragma once

#include <string>

#include "lib/base/error.h"
#include "plugin/slurm/stock/slurm_headers.h"

namespace rubato {

/// Checks the first partition, node, running and pending job of slurmctld. Under the read locks of
/// all of them. An error names the record and both sizes.
[[nodiscard]] Result<void> check_records();

/// The job record and its details. Cheap: remembers that one was found right.
[[nodiscard]] bool job_record_fits(const job_record_t& job);

}  // namespace rubato
