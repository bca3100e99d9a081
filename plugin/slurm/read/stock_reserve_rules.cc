// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/stock_reserve_rules.h"

#include <cstdlib>
#include <cstring>

namespace rubato {

namespace {

// The number after `name=` in SchedulerParameters; 0 without one. Slurm ignores what it cannot
// read.
long long parameter(const char* name) {
  const char* at =
      slurm_conf.sched_params != nullptr ? strcasestr(slurm_conf.sched_params, name) : nullptr;
  if (at == nullptr) return 0;
  return std::max(std::strtoll(at + std::strlen(name), nullptr, 10), 0LL);
}

}  // namespace

StockReserveRules StockReserveRules::read() {
  const long long priority = parameter("bf_min_prio_reserve=");
  return {.min_age = parameter("bf_min_age_reserve="),
          .min_priority = static_cast<std::uint32_t>(std::min<long long>(priority, UINT32_MAX))};
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
