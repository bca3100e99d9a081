// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/adaptive_job.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rubato::sim {

int AdaptiveJob::gpus() const { return std::accumulate(placement.begin(), placement.end(), 0); }

StepSeconds AdaptiveJob::step() const {
  return app->table(type).at(placement, static_cast<double>(split.local));
}

double AdaptiveJob::batch() const {
  return static_cast<double>(split.local * (split.passes + 1) * gpus());
}

std::vector<int> run_lengths(const std::vector<GroupNodeIndex>& nodes) {
  std::vector<int> out;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i > 0 && nodes[i] == nodes[i - 1]) {
      ++out.back();
    } else {
      out.push_back(1);
    }
  }
  return out;
}

double advance(AdaptiveJob& job, double now, double seconds, const AdaptiveHooks& hooks) {
  if (job.placement.empty() || job.finished()) return 0;
  const double begin = now;
  const double waited = std::min(job.delay, seconds);
  job.delay -= waited;
  now += waited;
  double left = seconds - waited;
  while (left > 0 && !job.finished()) {
    const StepSeconds step = job.step();
    if (hooks.measured) hooks.measured(job, step);
    const double throughput =
        job.app->gain(job.batch(), job.epoch) / step.with(job.split.passes) / job.slowdown;
    const double target = job.app->progress_after(job.epoch + 1);
    if (job.progress + throughput * left < target) {
      job.progress += throughput * left;
      now += left;
      left = 0;
    } else {
      const double spent = std::nearbyint((target - job.progress) / throughput);
      job.progress = target;
      now += spent;
      left -= spent;
      if (++job.epoch == job.app->epochs()) job.finish = now;
    }
    if (!job.finished() && hooks.retune) hooks.retune(job);
  }
  return now - begin;
}

}  // namespace rubato::sim
