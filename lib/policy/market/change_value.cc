// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/market/change_value.h"

#include <algorithm>
#include <cmath>

namespace rubato {

double sure_seconds(double held, double seconds, double stddev) {
  if (seconds >= held) return seconds;
  return std::min(held, seconds * std::exp(kMinGainStddevs * stddev));
}

double change_life(const ChangeTerms& job, double cost) {
  return std::max(kMinLife * cost, job.age / (1 + job.restarts));
}

double value_of_change(const ChangeTerms& job, double seconds) {
  if (!(job.cost > 0)) return job.value / seconds;
  const double lasts = std::min(seconds + job.cost, change_life(job, job.cost));
  return job.value / seconds * std::max(0.0, 1 - job.cost / lasts);
}

double value_of_staying(const ChangeTerms& job) { return job.value / job.held; }

double value_of_stopping(const ChangeTerms& job) {
  if (!(job.stop_cost > 0)) return 0;
  return -value_of_staying(job) * std::min(1.0, job.stop_cost / change_life(job, job.stop_cost));
}

}  // namespace rubato
