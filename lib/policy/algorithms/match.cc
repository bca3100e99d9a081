// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/match.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "lib/policy/algorithms/assign.h"

namespace rubato {
namespace {

// Cost of going without; above any sum of run times, far below where doubles lose seconds.
constexpr double kNoPool = 1e12;

// Share of the pool's time that the job takes: its run time if it held the whole pool.
double work_on(const Contender& job, const TypePool& pool, std::size_t p) {
  return job.seconds[p] * job.gpus[p] / pool.gpus;
}

bool can_run(const Contender& job, const TypePool& pool, std::size_t p) {
  return std::isfinite(job.seconds[p]) && job.gpus[p] > 0 && job.gpus[p] <= pool.gpus;
}

}  // namespace

std::vector<TypeMatch> match(const std::vector<Contender>& contenders,
                             const std::vector<TypePool>& pools) {
  const int jobs = std::min(static_cast<int>(contenders.size()), kMaxMatched);
  const int count = static_cast<int>(pools.size());
  Costs costs(jobs, jobs * count);  // column p * jobs + q: on pool p with q followers
  for (int j = 0; j < jobs; ++j) {
    const Contender& job = contenders[static_cast<std::size_t>(j)];
    for (int p = 0; p < count; ++p) {
      const auto at = static_cast<std::size_t>(p);
      if (!can_run(job, pools[at], at)) continue;
      const double work = work_on(job, pools[at], at);
      const double own = job.seconds[at] + pools[at].busy / pools[at].gpus;
      for (int q = 0; q < jobs; ++q) costs.at(j, p * jobs + q) = own + q * work;
    }
  }
  const std::vector<int> columns =
      assign(costs, std::vector<double>(static_cast<std::size_t>(jobs), kNoPool), jobs);
  std::vector<TypeMatch> matches(contenders.size());
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (columns[j] >= 0) matches[j] = {columns[j] / jobs, columns[j] % jobs};
  }
  return matches;
}

}  // namespace rubato
