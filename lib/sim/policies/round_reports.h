// SPDX-License-Identifier: GPL-2.0-or-later
// Reports of simulated jobs in the form in which slurmctld's recorder has them.
#pragma once

#include <string>

#include "lib/base/units.h"
#include "lib/model/measured_rows.h"
#include "lib/sim/engine/policy.h"

namespace rubato::sim {

/// What slurmctld knows of the run that reports.
struct ReportingRun {
  ProfileName profile;
  JobKey job;
  std::string gpu_type;
  Seconds time = 0;       ///< of the report
  Seconds run_start = 0;  ///< 0: unknown
};

/// `report` as the models take it. What the job did not measure is empty.
[[nodiscard]] MeasuredReport measured_report(const JobReport& report, const JobView& view,
                                             const ReportingRun& run);

}  // namespace rubato::sim
