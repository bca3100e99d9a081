// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/pollux_policy.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace rubato::sim {
namespace {

constexpr double kScale = .25;    ///< of speedups in the first objective
constexpr double kOffset = 1e-3;  ///< keeps the mean above 0
constexpr double kRestart = 30;   ///< assumed seconds of a restart
/// The artifact fits with the default of scipy: this relative reduction.
constexpr double kReduction = 2.220446049250313e-9;

}  // namespace

PolluxOwn::PolluxOwn(const AdaptiveRules& rules, const ClusterShape& cluster, std::uint64_t seed)
    : LoopPolicy(rules), search_(seed) {
  part_gpus_ = cluster.groups.front().gpus_per_node;
  max_spread_ = cluster.gpus(0);
  for (const TypeIndex type : cluster.type_indices()) {
    part_gpus_ = std::min(part_gpus_, cluster.groups[type].gpus_per_node);
    max_spread_ = std::min(max_spread_, cluster.gpus(type));
  }
  for (const TypeIndex type : cluster.type_indices()) {
    const NodeGroup& group = cluster.groups[type];
    for (const GroupNodeIndex node : group.node_indices()) {
      for (int i = 0; i < group.gpus_per_node / part_gpus_; ++i) parts_.push_back({type, node});
    }
  }
}

void PolluxOwn::measured(LoopJob& job, const StepSeconds& step) {
  Known& known = known_[&job];
  known.gradient = job.app().gradient(job.run.batch(), job.run.epoch);
  const int gpus = job.run.gpus();
  if (!known.points.try_emplace({job.run.nodes(), gpus, job.run.split.local}, step).second) return;
  known.max_gpus = std::max(known.max_gpus, gpus);
  known.model = fit_adaptive(known.points, kReduction);
}

BatchSplit PolluxOwn::split(const LoopJob& job) const {
  const AdaptiveApp& app = job.app();
  const AdaptiveJob& run = job.run;
  const double only = job.rules->only_batch;
  const auto known = known_.find(&job);
  const auto first = static_cast<double>(app.first_batch());
  const std::int64_t least = app.table(run.type).least();
  if (known != known_.end() && only == 0) {
    const BatchBounds bounds{first, static_cast<double>(app.most_batch()), least,
                             rules().fits(app, run.type, run.placement)};
    const BestSplit best =
        best_split(known->second.model, known->second.gradient, run.nodes(), job.gpus(), bounds);
    if (best.goodput > 0) return rules().bounded(app, run.type, job.gpus(), best.split);
  }
  const double batch = only > 0 ? only : std::max(first, static_cast<double>(least) * job.gpus());
  return rules().fixed(app, run.type, run.placement, batch);
}

/// Plans as if all GPUs were of the first type.
double PolluxOwn::goodput(const LoopJob& job, int nodes, int gpus) const {
  const Known& known = known_.at(&job);
  const AdaptiveApp& app = job.app();
  const BatchBounds bounds{static_cast<double>(app.first_batch()),
                           static_cast<double>(app.most_batch()), app.table(0).least(),
                           rules().planned(app, 0)};
  return best_split(known.model, known.gradient, nodes, gpus, bounds).goodput;
}

/// Goodput relative to the fair share. The fair share is taken on one node, even if nodes have
/// fewer GPUs.
double PolluxOwn::speedup(const LoopJob& job, int nodes, int gpus, int share) const {
  if (gpus == 0) return 0;
  if (!known_.contains(&job)) return static_cast<double>(gpus) / share;
  const double fair = goodput(job, 1, share);
  return fair > 0 ? goodput(job, nodes, gpus) / fair : 0;
}

int PolluxOwn::max_gpus(const LoopJob& job) const {
  if (job.rules->only_batch > 0) return 1;
  const auto known = known_.find(&job);
  const int seen = known == known_.end() ? 0 : known->second.max_gpus;
  const AdaptiveApp& app = job.app();
  return std::min({std::max(2 * seen, 1), max_spread_,
                   static_cast<int>(app.most_batch() / app.table(0).least())});
}

/// The last front without ended jobs. As in the artifact, rows are matched by position among the
/// remaining jobs, in the old and the new order, not by job.
std::vector<Genome> PolluxOwn::begin(const std::vector<const LoopJob*>& order,
                                     const Genome& now) const {
  if (last_front_.empty()) return {now};
  const std::size_t parts = parts_.size();
  const std::set<const LoopJob*> active(order.begin(), order.end());
  const std::set<const LoopJob*> before(last_order_.begin(), last_order_.end());
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
    Genome genome(order.size() * parts, 0);
    for (std::size_t k = 0; k < to.size(); ++k) {
      genome.replace(to[k] * parts, parts, old, from[k] * parts, parts);
    }
    out.push_back(std::move(genome));
  }
  return out;
}

/// The two objectives: the negative mean of speedups, and the negative use of the nodes in use.
std::pair<double, double> PolluxOwn::value(Round& round, const Genome& now,
                                           const Genome& genome) const {
  const std::size_t parts = parts_.size();
  const std::size_t width = gpus() + 1;
  double inverse = 0;
  double sum = 0;
  std::vector<char> in_use(parts, 0);
  for (std::size_t j = 0; j < round.order.size(); ++j) {
    int spanned = 0;
    int held = 0;
    bool same = true;
    for (std::size_t n = 0; n < parts; ++n) {
      const char cell = genome[j * parts + n];
      held += cell;
      if (cell > 0) {
        ++spanned;
        in_use[n] = 1;
      }
      same = same && cell == now[j * parts + n];
    }
    double& s = round.speedups[j][static_cast<std::size_t>(spanned) * width +
                                  static_cast<std::size_t>(held)];
    if (s < 0) s = speedup(*round.order[j], spanned, held, round.share);
    sum += s;
    inverse += 1 / (s * kScale * (same ? 1 : round.factors[j]) + kOffset);
  }
  const auto used = static_cast<double>(std::ranges::count(in_use, 1));
  const double mean = static_cast<double>(round.order.size()) / inverse;
  return {-mean, used == 0 ? 0 : -sum / (static_cast<double>(part_gpus_) * used)};
}

/// Keeps the GPUs of the most frequent type; if equal, of the type on which this job is faster.
void PolluxOwn::keep_one_type(const LoopJob& job, Genome& row) const {
  std::map<TypeIndex, int> gpus;
  for (std::size_t n = 0; n < parts_.size(); ++n) {
    if (row[n] > 0) gpus[parts_[n].type] += row[n];
  }
  if (gpus.size() < 2) return;
  const auto best = std::ranges::max_element(gpus, {}, [&](const auto& one) {
    return std::pair(one.second, job.app().table(one.first).single_throughput());
  });
  for (std::size_t n = 0; n < parts_.size(); ++n) {
    if (parts_[n].type != best->first) row[n] = 0;
  }
}

LoopGrant PolluxOwn::grant_of(const Genome& row) const {
  LoopGrant grant;
  for (std::size_t n = 0; n < parts_.size(); ++n) {
    if (row[n] == 0) continue;
    grant.type = parts_[n].type;
    grant.nodes.insert(grant.nodes.end(), static_cast<std::size_t>(row[n]), parts_[n].node);
  }
  return grant;
}

std::vector<LoopGrant> PolluxOwn::decide(double now, std::span<LoopJob* const> active) {
  const std::size_t parts = parts_.size();
  std::vector<std::size_t> by_service(active.size());
  for (std::size_t i = 0; i < by_service.size(); ++i) by_service[i] = i;
  std::ranges::stable_sort(by_service, {}, [&](std::size_t i) {
    return std::pair(active[i]->result->gpu_seconds, active[i]->job->arrival);
  });
  Round round;
  for (const std::size_t i : by_service) round.order.push_back(active[i]);
  const std::size_t jobs = round.order.size();
  SearchProblem problem;
  problem.jobs = jobs;
  problem.nodes = parts;
  problem.node_gpus = part_gpus_;
  problem.now.assign(jobs * parts, 0);
  round.share = static_cast<int>((gpus() + jobs - 1) / jobs);
  for (std::size_t j = 0; j < jobs; ++j) {
    const LoopJob& job = *round.order[j];
    problem.most.push_back(max_gpus(job));
    const auto held = held_.find(&job);
    if (held != held_.end()) problem.now.replace(j * parts, parts, held->second);
    const double age = now - job.job->arrival;
    const double left = age - kRestart * job.result->restarts;
    round.factors.push_back(std::max(left, 0.0) / (age + kRestart));
  }
  const std::size_t width = gpus() + 1;
  round.speedups.assign(jobs, Speedups(width * (parts + 1), -1));
  problem.value = [&](const Genome& genome) { return value(round, problem.now, genome); };
  last_front_ = search_.run(problem, begin(round.order, problem.now));
  last_order_ = round.order;
  held_.clear();
  std::vector<LoopGrant> grants(jobs);
  for (std::size_t j = 0; j < jobs; ++j) {
    Genome row = last_front_.front().substr(j * parts, parts);
    keep_one_type(*round.order[j], row);
    grants[by_service[j]] = grant_of(row);
    held_.emplace(round.order[j], std::move(row));
  }
  return grants;
}

}  // namespace rubato::sim
