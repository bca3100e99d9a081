// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/truth.h"

#include <algorithm>
#include <numeric>

#include "lib/sim/policy_help.h"

namespace rubato::sim {

int Setting::gpus() const { return std::accumulate(placement.begin(), placement.end(), 0); }

Observation Truth::observe(const SimJob& job, const Setting& setting, double done) const {
  Observation seen;
  seen.batch = setting.batch > 0 ? setting.batch : job.batch;
  seen.samples_per_s = rate(job, setting, done) * samples_per_unit(job);
  return seen;
}

double Truth::samples_per_unit(const SimJob& job) const { return job.batch > 0 ? job.batch : 1; }

double Truth::seconds(const SimJob& job, const Setting& setting) const {
  double done = 0;
  double time = 0;
  while (done < job.work) {
    const double speed = rate(job, setting, done);
    if (!(speed > 0)) return std::numeric_limits<double>::infinity();
    const double to = std::min(job.work, next_change(job, done));
    if (!(to > done)) return std::numeric_limits<double>::infinity();
    time += (to - done) / speed;
    done = to;
  }
  return time;
}

Setting packed(const ClusterShape& cluster, int type, int gpus) {
  Setting setting;
  setting.type = type;
  const int node = cluster.groups[static_cast<std::size_t>(type)].gpus_per_node;
  for (int left = gpus; left > 0 && node > 0; left -= node) {
    setting.placement.push_back(std::min(left, node));
  }
  return setting;
}

double ideal_seconds(const Truth& truth, const ClusterShape& cluster, const SimJob& job) {
  double best = std::numeric_limits<double>::infinity();
  for (int type = 0; type < cluster.types(); ++type) {
    if (!may_use(job, cluster, type) || job.gpus > cluster.gpus(type)) continue;
    best = std::min(best, truth.seconds(job, packed(cluster, type, job.gpus)));
  }
  return best;
}

}  // namespace rubato::sim
