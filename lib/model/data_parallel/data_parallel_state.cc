// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/data_parallel/data_parallel_state.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rubato::data_parallel {
namespace {

// A factor of 1,000: the limit of a deviation from a line.
constexpr double kMaxDeviation = 7.0;

double kernel(double distance) {
  // Matern 3/2 kernel: continuous slope, limited smoothness (Rasmussen & Williams, 4.17).
  const double d = std::sqrt(3.0) * std::abs(distance);
  return (1 + d) * std::exp(-d);
}

double distance(double x, double y) { return std::sqrt(x * x + y * y); }

double deviation(const Deviation& d, const LogConfiguration& at, double stddev,
                 const DataParallelPrior& prior, Kernel k) {
  double sum = 0;
  for (std::size_t i = 0; i < d.at.size(); ++i) {
    sum += k(prior, d.at[i], at) * d.weights[static_cast<Eigen::Index>(i)];
  }
  return std::clamp(sum * stddev * stddev, -kMaxDeviation, kMaxDeviation);
}

}  // namespace

LogConfiguration::LogConfiguration(const DataParallelConfiguration& at)
    : batch(std::log(at.local_batch)),
      gpus(std::log(static_cast<double>(at.gpus))),
      nodes(std::log(static_cast<double>(at.nodes))),
      crowd(std::log(static_cast<double>(at.gpus) / at.nodes)),
      synced(at.gpus > 1),
      across(at.nodes > 1) {}

Deviation::Deviation(const std::vector<DataParallelConfiguration>& configurations,
                     Eigen::VectorXd of)
    : at(configurations.begin(), configurations.end()), weights(std::move(of)) {}

double pass_kernel(const DataParallelPrior& prior, const LogConfiguration& a,
                   const LogConfiguration& b) {
  return kernel((a.batch - b.batch) / prior.compute_length);
}

double contention_kernel(const DataParallelPrior& prior, const LogConfiguration& a,
                         const LogConfiguration& b) {
  return kernel(distance(a.batch - b.batch, a.crowd - b.crowd) / prior.contention_length);
}

double sync_kernel(const DataParallelPrior& prior, const LogConfiguration& a,
                   const LogConfiguration& b) {
  if (!a.synced || !b.synced || a.across != b.across) return 0;
  return kernel(distance(a.gpus - b.gpus, a.nodes - b.nodes) / prior.sync_length);
}

double pass_seconds(const LatentState& state, const DataParallelConfiguration& at) {
  const DataParallelPrior& prior = state.prior;
  const LogConfiguration logs(at);
  const double off = deviation(state.pass, logs, prior.compute, prior, &pass_kernel) +
                     deviation(state.contention, logs, prior.contention, prior, &contention_kernel);
  return pass_time(state.family, at) * std::exp(off);
}

double sync_seconds(const LatentState& state, const DataParallelConfiguration& at) {
  const LogConfiguration logs(at);
  const double off = deviation(state.sync, logs, state.prior.sync, state.prior, &sync_kernel);
  return sync_time(state.family, at.gpus, at.nodes) * std::exp(off);
}

Feature feature(const LatentState& state, const DataParallelConfiguration& at) {
  constexpr double kStep = 1e-4;
  Feature f(at);
  const double pass_off = std::log(pass_seconds(state, at) / pass_time(state.family, at));
  const double sync = sync_time(state.family, at.gpus, at.nodes);
  const double sync_off = sync > 0 ? std::log(sync_seconds(state, at) / sync) : 0;
  const auto log_step = [&](const Logs& logs) {
    const DataParallelFamily family = family_of(logs, state.reference);
    return std::log(joined(pass_time(family, at) * std::exp(pass_off),
                           sync_time(family, at.gpus, at.nodes) * std::exp(sync_off),
                           family.overlap));
  };
  for (std::size_t i = 0; i < f.slopes.size(); ++i) {
    Logs above = state.logs;
    Logs below = state.logs;
    above[i] += kStep;
    below[i] -= kStep;
    f.slopes[i] = (log_step(above) - log_step(below)) / (2 * kStep);
  }
  f.of_pass = pass_weight(pass_time(state.family, at) * std::exp(pass_off),
                          sync * std::exp(sync_off), state.family.overlap);
  f.of_sync = 1 - f.of_pass;
  return f;
}

double covariance(const LatentState& state, const Feature& a, const Feature& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.slopes.size(); ++i) {
    const double stddev = state.belief[i].stddev;
    sum += a.slopes[i] * b.slopes[i] * stddev * stddev;
  }
  const DataParallelPrior& prior = state.prior;
  if (!prior.correct) return sum;
  sum += prior.compute * prior.compute * a.of_pass * b.of_pass *
         pass_kernel(prior, a.log_at, b.log_at);
  sum += prior.contention * prior.contention * a.of_pass * b.of_pass *
         contention_kernel(prior, a.log_at, b.log_at);
  if (a.of_sync > 0 && b.of_sync > 0) {
    sum += prior.sync * prior.sync * a.of_sync * b.of_sync * sync_kernel(prior, a.log_at, b.log_at);
  }
  return sum;
}

LatentState believed(const DataParallelPrior& prior, double reference, double pass) {
  LatentState state;
  state.prior = prior;
  state.reference = reference;
  state.belief = beliefs(pass);
  for (std::size_t i = 0; i < state.logs.size(); ++i) state.logs[i] = state.belief[i].mean;
  state.family = family_of(state.logs, reference);
  return state;
}

}  // namespace rubato::data_parallel
