// SPDX-License-Identifier: GPL-2.0-or-later
// The question to the gate, without Slurm's types.
#pragma once

#include <cstdint>

#include "lib/base/units.h"

namespace rubato {

/// A placement test of slurmctld (select_p_job_test).
struct GateQuestion {
  enum class Kind { kRunNow, kTestOnly, kWillRun, kOther };

  Kind kind = Kind::kOther;
  bool real_job = true;  ///< a pending job of the job list, not a temporary record for a
                         ///< reservation
  bool managed = false;
  bool owed = false;        ///< the loop must still restore the job's original request
  bool zero_nodes = false;  ///< needs no node: any refusal would hold the job permanently
  std::uint32_t uid = 0;
  JobId job = 0;
  Seconds submit = 0;  ///< when the job was submitted
  Seconds now = 0;
  Seconds end = 0;  ///< when the job would end if it started now
  int tier = 0;
  std::uint32_t priority = 0;
};

}  // namespace rubato
