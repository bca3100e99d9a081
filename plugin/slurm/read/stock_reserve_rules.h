// SPDX-License-Identifier: GPL-2.0-or-later
// For which jobs stock backfill reserves nothing: Rubato reserves nothing for them either.
#pragma once

#include <cstdint>

#include "lib/base/units.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// SchedulerParameters bf_min_age_reserve and bf_min_prio_reserve, and MinPrioThreshold of QOS and
/// associations (sched/backfill, backfill.c _attempt_backfill).
struct StockReserveRules {
  Seconds min_age = 0;             ///< a job has to be eligible for so long
  std::uint32_t min_priority = 0;  ///< and to have this priority at least

  /// Those of slurm.conf.
  [[nodiscard]] static StockReserveRules read();
  /// No reservation for `job` before this time.
  [[nodiscard]] Seconds from(const job_record_t& job) const;
  /// No reservation for `job` with a lower priority. Takes the locks of the associations.
  [[nodiscard]] std::uint32_t priority(const job_record_t& job) const;
};

/// --time-min in seconds; 0 without one.
[[nodiscard]] Seconds time_min_of(const job_record_t& job);

}  // namespace rubato
