// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/data_parallel/data_parallel_latents.h"

#include <algorithm>
#include <iterator>

namespace rubato::data_parallel {
namespace {

bool same_shape(const DataParallelConfiguration& a, const DataParallelConfiguration& b) {
  return a.gpus == b.gpus && a.nodes == b.nodes;
}

}  // namespace

Latents latents(const DataParallelPrior& prior, const std::vector<StepObservation>& measured) {
  Latents l;
  for (const StepObservation& m : measured) {
    auto pass = std::ranges::find_if(
        l.passes, [&](const auto& p) { return p.local_batch == m.at.local_batch; });
    l.pass_of.push_back(pass - l.passes.begin());
    if (pass == l.passes.end()) l.passes.push_back(m.at);
    if (m.at.gpus <= 1) {
      l.sync_of.push_back(-1);
      continue;
    }
    auto sync = std::ranges::find_if(l.syncs, [&](const auto& p) { return same_shape(p, m.at); });
    l.sync_of.push_back(sync - l.syncs.begin());
    if (sync == l.syncs.end()) l.syncs.push_back(m.at);
  }
  for (Eigen::Index& s : l.sync_of) s += s >= 0 ? std::ssize(l.passes) : 0;
  for (const StepObservation& m : measured) l.configurations.push_back(m.at);
  l.first_configuration = std::ssize(l.passes) + std::ssize(l.syncs);
  const Eigen::Index all = l.first_configuration + std::ssize(l.configurations);
  l.prior = Eigen::MatrixXd::Zero(all, all);
  const auto fill = [&](Eigen::Index from, const std::vector<DataParallelConfiguration>& places,
                        double stddev, Kernel k) {
    const std::vector<LogConfiguration> at(places.begin(), places.end());
    for (std::size_t i = 0; i < at.size(); ++i) {
      for (std::size_t j = 0; j < at.size(); ++j) {
        l.prior(from + static_cast<Eigen::Index>(i), from + static_cast<Eigen::Index>(j)) =
            stddev * stddev * k(prior, at[i], at[j]);
      }
    }
  };
  fill(0, l.passes, prior.compute, &pass_kernel);
  fill(std::ssize(l.passes), l.syncs, prior.sync, &sync_kernel);
  fill(l.first_configuration, l.configurations, prior.contention, &contention_kernel);
  return l;
}

std::vector<Widths> all_widths() {
  std::vector<Widths> all;
  for (const double length : {0, -1, -2}) {
    for (const double pass : {0, -1, 1, 2}) {
      for (const double sync : {0, -1, 1}) {
        for (const double noise : {0, 1}) all.push_back({length, pass, sync, noise});
      }
    }
  }
  return all;
}

}  // namespace rubato::data_parallel
