// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/data_parallel/data_parallel_family.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rubato::data_parallel {
namespace {

// Search range of the optimiser, in standard deviations of the prior.
constexpr double kReach = 5.0;
constexpr double kMaxOverlap = 10.0;
// With 1, GPUs that share one resource use it one after another.
constexpr double kMaxCrowding = 1.0;

}  // namespace

std::array<Belief, kParameters> beliefs(double pass) {
  // The prior for all jobs. Half of a pass at a typical batch is fixed. Synchronisation in a node
  // costs a tenth of a pass and grows slowly with the replicas, across nodes three times as much.
  // Half of it overlaps with the pass.
  return {{{std::log(pass), 2.0},
           {std::log(0.5), 1.5},
           {std::log(0.1), 1.5},
           {std::log(0.05), 1.5},
           {std::log(3.0), 1.0},
           {std::log(0.05), 1.5},
           {std::log(1.5), 0.5},
           {0.0, 0.15}}};
}

std::vector<FitParameter> bounds(const std::array<Belief, kParameters>& beliefs) {
  std::vector<FitParameter> parameters;
  for (const Belief& belief : beliefs) {
    const double reach = kReach * belief.stddev;
    parameters.push_back({belief.mean, belief.mean - reach, belief.mean + reach, false});
  }
  parameters[6].low = 0;
  parameters[6].high = std::log(kMaxOverlap);
  parameters[7].low = 0;
  parameters[7].high = kMaxCrowding;
  return parameters;
}

DataParallelFamily family_of(const Logs& logs, double reference_batch) {
  const double pass = std::exp(logs[0]);
  const double ratio = std::exp(logs[1]);  // fixed / growing at the reference
  DataParallelFamily f;
  f.fixed = pass * ratio / (1 + ratio);
  f.per_sample = pass / (1 + ratio) / reference_batch;
  f.local = pass * std::exp(logs[2]);
  f.local_growth = f.local * std::exp(logs[3]);
  f.remote = f.local * std::exp(logs[4]);
  f.remote_growth = f.remote * std::exp(logs[5]);
  f.overlap = std::exp(logs[6]);
  f.crowding = logs[7];
  return f;
}

double pass_time(const DataParallelFamily& family, const DataParallelConfiguration& at) {
  const double crowd = static_cast<double>(at.gpus) / at.nodes;
  return (family.fixed + family.per_sample * at.local_batch) * std::pow(crowd, family.crowding);
}

double sync_time(const DataParallelFamily& family, int gpus, int nodes) {
  if (gpus <= 1) return 0;
  const double more = gpus - 2;
  return nodes > 1 ? family.remote + family.remote_growth * more
                   : family.local + family.local_growth * more;
}

double joined(double pass, double sync, double overlap) {
  const auto [less, more] = std::minmax(pass, sync);
  if (more <= 0) return 0;
  return more * std::pow(1 + std::pow(less / more, overlap), 1 / overlap);
}

double pass_weight(double pass, double sync, double overlap) {
  if (sync <= 0) return 1;
  if (pass <= 0) return 0;
  return 1 / (1 + std::pow(sync / pass, overlap));
}

}  // namespace rubato::data_parallel
