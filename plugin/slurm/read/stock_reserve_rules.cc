// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/stock_reserve_rules.h"

#include "plugin/slurm/stock/controller.h"

namespace rubato {

StockReserveRules StockReserveRules::read() {
  return {.min_age = scheduler_parameter("bf_min_age_reserve="),
          .min_priority = scheduler_parameter("bf_min_prio_reserve=")};
}

Seconds StockReserveRules::from(const job_record_t& job) const {
  return min_age == 0 ? 0 : job.details->begin_time + min_age;
}

std::uint32_t StockReserveRules::priority(const job_record_t& job) const {
  const std::uint32_t of_group =
      acct_policy_get_prio_thresh(const_cast<job_record_t*>(&job), false);
  return of_group != 0 ? of_group : min_priority;
}

Seconds time_min_of(const job_record_t& job) {
  return job.time_min == NO_VAL ? 0 : static_cast<Seconds>(job.time_min) * 60;
}

}  // namespace rubato
