// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/guarantee.h"

#include <algorithm>

#include "lib/policy/algorithms/growth_cap.h"

namespace rubato {

bool is_guaranteed(const Config& config, const Job& job) {
  return !config.off(Mechanism::kGuarantee) && config.guaranteed_qos.contains(job.qos);
}

double promised_goodput(const RoundInput& input, const Job& job,
                        const std::vector<std::string>& types) {
  if (!is_guaranteed(input.config, job)) return 0;
  const int own = submitted_gpus(job);
  double least = 0;
  for (const std::string& type : types) {
    if (!accepts_type(job, type)) continue;
    const Forecast as_requested = forecast_for(input, job, type, own);
    if (!as_requested.feasible || !(as_requested.goodput() > 0)) continue;
    least = least > 0 ? std::min(least, as_requested.goodput()) : as_requested.goodput();
  }
  return least;
}

}  // namespace rubato
