// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/pollux_policy.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace rubato::sim {
namespace {

constexpr double kScale = .25;    ///< of speedups in the first figure
constexpr double kOffset = 1e-3;  ///< keeps the mean above 0
constexpr double kFixedBatch = 32'768;

/// The artifact gives this one a fixed batch and a single GPU.
bool is_fixed(const PolluxJob& job) { return job.run.app->name() == "ncf"; }

BatchBounds bounds_of(const PolluxJob& job) {
  const AdaptiveApp& app = *job.run.app;
  return {static_cast<double>(app.first_batch()), static_cast<double>(app.most_batch()),
          app.table(0).least(), job.most_local};
}

}  // namespace

void PolluxOwn::measured(PolluxJob& job, const StepSeconds& step) {
  Known& known = known_[&job];
  known.gradient = job.run.app->gradient(job.run.batch(), job.run.epoch);
  const int gpus = job.run.gpus();
  const auto nodes = static_cast<int>(job.run.placement.size());
  if (!known.points.try_emplace({nodes, gpus, job.run.split.local}, step).second) return;
  known.most_gpus = std::max(known.most_gpus, gpus);
  known.model = fit_adaptive(known.points);
}

BatchSplit PolluxOwn::split(const PolluxJob& job) const {
  const AdaptiveApp& app = *job.run.app;
  const int gpus = job.gpus();
  const auto known = known_.find(&job);
  if (known != known_.end() && !is_fixed(job)) {
    const BestSplit best =
        best_split(known->second.model, known->second.gradient,
                   static_cast<int>(job.run.placement.size()), gpus, bounds_of(job));
    if (best.goodput > 0) return best.split;
  }
  const auto first = static_cast<double>(app.first_batch());
  const double batch = is_fixed(job)
                           ? kFixedBatch
                           : std::max(first, static_cast<double>(app.table(0).least()) * gpus);
  return split_batch(batch, gpus, job.most_local, app.most_batch(), gpus == 1 && batch > first);
}

double PolluxOwn::goodput(const PolluxJob& job, int nodes, int gpus) const {
  const Known& known = known_.at(&job);
  return best_split(known.model, known.gradient, nodes, gpus, bounds_of(job)).goodput;
}

/// Over its fair share, taken on one node even where that has fewer GPUs.
double PolluxOwn::speedup(const PolluxJob& job, int nodes, int gpus, int share) const {
  if (gpus == 0) return 0;
  if (!known_.contains(&job)) return static_cast<double>(gpus) / share;
  const double fair = goodput(job, 1, share);
  return fair > 0 ? goodput(job, nodes, gpus) / fair : 0;
}

int PolluxOwn::most_gpus(const PolluxJob& job) const {
  if (is_fixed(job)) return 1;
  const auto known = known_.find(&job);
  const int seen = known == known_.end() ? 0 : known->second.most_gpus;
  const AdaptiveApp& app = *job.run.app;
  return std::min({std::max(2 * seen, 1), nodes_.nodes * nodes_.gpus_per_node,
                   static_cast<int>(app.most_batch() / app.table(0).least())});
}

/// The last front without the jobs that have ended. As in the artifact rows go to those that are
/// left by their place in the order of then and of now, not by job.
std::vector<Genome> PolluxOwn::begin(const std::vector<const PolluxJob*>& order,
                                     const Genome& now) const {
  if (last_front_.empty()) return {now};
  const auto nodes = static_cast<std::size_t>(nodes_.nodes);
  const std::set<const PolluxJob*> active(order.begin(), order.end());
  const std::set<const PolluxJob*> before(last_order_.begin(), last_order_.end());
  std::vector<std::size_t> from;
  for (std::size_t j = 0; j < last_order_.size(); ++j) {
    if (active.contains(last_order_[j])) from.push_back(j);
  }
  std::vector<std::size_t> to;
  for (std::size_t j = 0; j < order.size(); ++j) {
    if (before.contains(order[j])) to.push_back(j);
  }
  std::vector<Genome> out;
  for (const Genome& old : last_front_) {
    Genome genome(order.size() * nodes, 0);
    for (std::size_t k = 0; k < to.size(); ++k) {
      genome.replace(to[k] * nodes, nodes, old, from[k] * nodes, nodes);
    }
    out.push_back(std::move(genome));
  }
  return out;
}

PolluxGrants PolluxOwn::decide(double now, std::span<PolluxJob* const> active) {
  const auto nodes = static_cast<std::size_t>(nodes_.nodes);
  std::vector<std::size_t> by_service(active.size());
  for (std::size_t i = 0; i < by_service.size(); ++i) by_service[i] = i;
  std::ranges::stable_sort(by_service, {}, [&](std::size_t i) {
    return std::pair(active[i]->result->gpu_seconds, active[i]->job->arrival);
  });
  std::vector<const PolluxJob*> order;
  for (const std::size_t i : by_service) order.push_back(active[i]);
  SearchProblem problem;
  problem.jobs = static_cast<int>(order.size());
  problem.nodes = nodes_.nodes;
  problem.node_gpus = nodes_.gpus_per_node;
  problem.now.assign(order.size() * nodes, 0);
  const int total = nodes_.nodes * nodes_.gpus_per_node;
  const int share = (total + problem.jobs - 1) / problem.jobs;
  std::vector<double> factors;
  for (std::size_t j = 0; j < order.size(); ++j) {
    problem.most.push_back(most_gpus(*order[j]));
    for (const int node : order[j]->nodes)
      ++problem.now[j * nodes + static_cast<std::size_t>(node)];
    const double age = now - order[j]->job->arrival;
    const double left = age - kPolluxRestart * order[j]->result->restarts;
    factors.push_back(std::max(left, 0.0) / (age + kPolluxRestart));
  }
  const std::size_t width = static_cast<std::size_t>(total) + 1;
  std::vector<Speedups> speedups(order.size(), Speedups(width * (nodes + 1), -1));
  problem.value = [&](const Genome& genome) {
    double inverse = 0;
    double sum = 0;
    std::uint64_t used = 0;
    std::vector<char> in_use(nodes, 0);
    for (std::size_t j = 0; j < order.size(); ++j) {
      int spanned = 0;
      int gpus = 0;
      bool same = true;
      for (std::size_t n = 0; n < nodes; ++n) {
        const char cell = genome[j * nodes + n];
        gpus += cell;
        if (cell > 0) {
          ++spanned;
          in_use[n] = 1;
        }
        same = same && cell == problem.now[j * nodes + n];
      }
      double& s =
          speedups[j][static_cast<std::size_t>(spanned) * width + static_cast<std::size_t>(gpus)];
      if (s < 0) s = speedup(*order[j], spanned, gpus, share);
      sum += s;
      inverse += 1 / (s * kScale * (same ? 1 : factors[j]) + kOffset);
    }
    for (const char one : in_use) used += static_cast<std::uint64_t>(one);
    const double mean = static_cast<double>(order.size()) / inverse;
    const double spread = static_cast<double>(nodes_.gpus_per_node) * static_cast<double>(used);
    return std::pair(-mean, used == 0 ? 0 : -sum / spread);
  };
  last_front_ = search_.run(problem, begin(order, problem.now));
  last_order_ = order;
  const Genome& best = last_front_.front();
  PolluxGrants grants(active.size());
  for (std::size_t j = 0; j < order.size(); ++j) {
    for (std::size_t n = 0; n < nodes; ++n) {
      grants[by_service[j]].insert(grants[by_service[j]].end(),
                                   static_cast<std::size_t>(best[j * nodes + n]),
                                   static_cast<int>(n));
    }
  }
  return grants;
}

}  // namespace rubato::sim
