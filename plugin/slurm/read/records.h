// SPDX-License-Identifier: GPL-2.0-or-later
// Checks that the records of the running slurmctld have the sizes and magics of this build's
// headers. A similar but different release shifts fields silently.
#pragma once

#include <string>

#include "lib/base/error.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

struct RecordCheck {
  bool fit = false;
  bool jobs = false;  ///< a job was there to compare
  std::string text;   ///< the sizes; if they do not fit, the record and both sizes
};

/// Compares slurmctld's first partition, node and job. Needs the read locks of all of them.
[[nodiscard]] RecordCheck check_records();

/// Checks the job record and its details. Cheap: caches the first result.
[[nodiscard]] bool job_record_fits(const job_record_t& job);

}  // namespace rubato
