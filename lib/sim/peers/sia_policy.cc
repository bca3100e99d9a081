// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/sia_policy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lib/sim/solver/branch_bound.h"

namespace rubato::sim {
namespace {

constexpr double kPower = -0.5;
constexpr double kNothing = 110;  ///< cost of a job without GPUs, in hundredths
constexpr double kSmall = 1e-4;   ///< goodput that stands for 0
constexpr double kMaxCost = 3000;
constexpr int kMaxGpus = 64;
/// The artifact's fits stop at this relative reduction.
constexpr double kReduction = 1e-5;

}  // namespace

SiaOwn::SiaOwn(const AdaptiveRules& rules, const ClusterShape& cluster, std::uint64_t seed)
    : LoopPolicy(rules), cluster_(cluster) {
  if (seed > 0) ties_.emplace(static_cast<std::uint32_t>(seed));
  for (const TypeIndex type : cluster.type_indices()) {
    const NodeGroup& group = cluster.groups[type];
    for (int gpus = 1; gpus <= group.gpus_per_node; gpus *= 2) {
      configurations_.push_back({type, 1, gpus});
    }
    for (int nodes = 2; nodes <= group.nodes; ++nodes) {
      configurations_.push_back({type, nodes, nodes * group.gpus_per_node});
    }
  }
}

void SiaOwn::measured(LoopJob& job, const StepSeconds& step) {
  Known& known = known_[&job];
  known.types.resize(cluster_.types());
  known.any = true;
  known.gradient = job.app().gradient(job.run.batch(), job.run.epoch);
  Known::OnType& type = known.types[job.run.type];
  const int gpus = job.run.gpus();
  const bool is_new =
      type.points.try_emplace({job.run.nodes(), gpus, job.run.split.local}, step).second;
  if (!is_new) return;
  type.max_gpus = std::max(type.max_gpus, gpus);
  type.model = fit_adaptive(type.points, kReduction);
}

/// If the type has a model: the best batch up to the application's largest. Else a batch that keeps
/// all GPUs busy.
BatchSplit SiaOwn::split(const LoopJob& job) const {
  const AdaptiveApp& app = job.app();
  const StepTable& table = app.table(job.run.type);
  const int gpus = job.run.gpus();
  const auto first = static_cast<double>(app.first_batch());
  const auto known = known_.find(&job);
  const Known::OnType* type = known == known_.end() ? nullptr : &known->second.types[job.run.type];
  const double only = job.rules->only_batch;
  const double batch = only > 0 ? only : std::max(first, static_cast<double>(table.least()) * gpus);
  const BatchSplit fixed = rules().fixed(app, job.run.type, job.run.placement, batch);
  if (only > 0 || type == nullptr || !type->model) return fixed;
  const BatchBounds bounds{first, static_cast<double>(app.most_batch()), table.least(),
                           rules().fits(app, job.run.type, job.run.placement)};
  const BestSplit best =
      best_split(*type->model, known->second.gradient, job.run.nodes(), gpus, bounds);
  return best.goodput > 0 ? rules().bounded(app, job.run.type, gpus, best.split) : fixed;
}

/// Goodput of each configuration; kSmall if the configuration is unavailable.
std::vector<double> SiaOwn::goodputs(const LoopJob& job, const Known& known) const {
  const AdaptiveApp& app = job.app();
  std::vector<double> out(configurations_.size(), kSmall);
  int cap = 1;
  TypeIndex modelled;
  for (const TypeIndex type : cluster_.type_indices()) {
    const Known::OnType& on = known.types[type];
    const auto most = static_cast<int>(app.most_batch() / app.table(type).least());
    cap = std::max(cap, std::min({std::max(2 * on.max_gpus, 1), kMaxGpus, most}));
    if (!modelled.valid() && on.model) modelled = type;
  }
  if (job.rules->only_batch > 0) cap = 1;
  for (const auto c : indices<ColumnIndex>(configurations_)) {
    const SiaConfiguration& config = configurations_[c];
    if (config.gpus > cap) continue;
    // For a type without measurements, scales the model of another type by single-GPU throughput.
    const bool own = known.types[config.type].model.has_value();
    const TypeIndex type = own ? config.type : modelled;
    const NodeGroup& group = cluster_.groups[type];
    const int nodes =
        own ? config.nodes : (config.gpus + group.gpus_per_node - 1) / group.gpus_per_node;
    const BatchBounds bounds{static_cast<double>(app.first_batch()), job.job->batch,
                             app.table(type).least(), rules().planned(app, type)};
    const double goodput =
        best_split(*known.types[type].model, known.gradient, nodes, config.gpus, bounds).goodput;
    const double factor =
        own ? 1 : app.table(config.type).single_throughput() / app.table(type).single_throughput();
    out[c] = goodput * factor;
  }
  return out;
}

ColumnIndex SiaOwn::held(const LoopJob& job) const {
  for (const auto c : indices<ColumnIndex>(configurations_)) {
    const SiaConfiguration& config = configurations_[c];
    if (config.type == job.held.type && config.gpus == job.gpus()) return c;
  }
  return {};
}

/// Cost of each configuration relative to none, in hundredths. Costs have two decimals, so these
/// are whole numbers.
std::vector<double> SiaOwn::costs(double now, const LoopJob& job) const {
  std::vector<double> values(configurations_.size(), kSmall);
  const auto known = known_.find(&job);
  if (known == known_.end()) {
    for (const auto c : indices<ColumnIndex>(values)) {
      if (configurations_[c].gpus == 1) values[c] = 1;
    }
  } else {
    values = goodputs(job, known->second);
    double least = 0;
    for (const double value : values) {
      if (value > kSmall && (least == 0 || value < least)) least = value;
    }
    for (double& value : values) value = value > kSmall ? value / least : kSmall;
  }
  const ColumnIndex kept = held(job);
  const double age = now - job.job->arrival;
  const double restart = job.rules->policy_restart;
  double factor = 1;
  if (kept.valid() && age >= restart) {
    factor = std::max(age - job.result->restarts * restart, 0.0) / (age + restart);
  }
  for (const auto c : indices<ColumnIndex>(values)) {
    const double value = c == kept ? values[c] : values[c] * factor;
    const double cost = std::nearbyint(100 * std::min(std::pow(value, kPower), kMaxCost));
    values[c] = cost - kNothing;
  }
  return values;
}

/// The solver takes the first of equal choices, so the order decides.
void SiaOwn::draw_order(std::vector<std::size_t>& jobs, std::vector<ColumnIndex>& columns) {
  if (!ties_) return;
  ties_->shuffle(jobs);
  ties_->shuffle(columns);
}

std::vector<LoopGrant> SiaOwn::decide(double now, std::span<LoopJob* const> active) {
  AssignmentProblem choice;
  for (const TypeIndex type : cluster_.type_indices()) choice.gpus.push_back(cluster_.gpus(type));
  std::vector<ColumnIndex> columns;
  for (const auto c : indices<ColumnIndex>(configurations_)) columns.push_back(c);
  std::vector<ColumnIndex> chosen(active.size());
  std::vector<std::size_t> jobs;
  for (std::size_t i = 0; i < active.size(); ++i) {
    const ColumnIndex kept = held(*active[i]);
    if (kept.valid() && active[i]->run.delay > 0) {  // it is starting: it stays
      chosen[i] = kept;
      choice.gpus[active[i]->held.type] -= active[i]->gpus();
      continue;
    }
    jobs.push_back(i);
  }
  draw_order(jobs, columns);
  for (const ColumnIndex c : columns) {
    choice.columns.push_back({configurations_[c].type, configurations_[c].gpus});
  }
  for (const std::size_t i : jobs) {
    const std::vector<double> all = costs(now, *active[i]);
    std::vector<double> row;
    for (const ColumnIndex c : columns) row.push_back(all[c]);
    choice.costs.push_back(std::move(row));
  }
  const auto found = branch_and_bound(choice);
  if (!found) {
    failure_ = "sia: " + found.error().text;
    return std::vector<LoopGrant>(active.size());
  }
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    if (found->chosen[k].valid()) chosen[jobs[k]] = columns[found->chosen[k]];
  }
  return place(active, chosen);
}

/// Larger jobs first, so that a job that fits a node is never split. Within a size, first jobs that
/// can keep their GPUs.
std::vector<LoopGrant> SiaOwn::place(std::span<LoopJob* const> active,
                                     const std::vector<ColumnIndex>& chosen) const {
  std::vector<LoopGrant> grants(chosen.size());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i].valid()) order.push_back(i);
  }
  const auto config = [&](std::size_t i) -> const SiaConfiguration& {
    return configurations_[chosen[i]];
  };
  const auto moves = [&](std::size_t i) { return held(*active[i]) != chosen[i]; };
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return std::pair(-config(i).gpus, moves(i)); });
  std::vector<std::vector<int>> free;
  for (const NodeGroup& group : cluster_.groups) {
    free.emplace_back(group.node_count(), group.gpus_per_node);
  }
  for (const std::size_t i : order) {
    const SiaConfiguration& wanted = config(i);
    std::vector<int>& nodes = free[wanted.type];
    const int each = wanted.gpus / wanted.nodes;
    std::vector<GroupNodeIndex> found;
    const auto try_node = [&](GroupNodeIndex n) {
      if (std::cmp_equal(found.size(), wanted.nodes) || nodes[n] < each) return;
      nodes[n] -= each;
      found.push_back(n);
    };
    if (!moves(i)) {
      for (const GroupNodeIndex node : active[i]->held.nodes) {
        if (found.empty() || found.back() != node) try_node(node);
      }
    }
    for (const auto n : indices<GroupNodeIndex>(nodes)) {
      if (std::ranges::find(found, n) == found.end()) try_node(n);
    }
    if (std::cmp_less(found.size(), wanted.nodes)) {  // a node count that powers of two do not fill
      for (const GroupNodeIndex n : found) nodes[n] += each;
      continue;
    }
    grants[i].type = wanted.type;
    for (const GroupNodeIndex n : found) {
      grants[i].nodes.insert(grants[i].nodes.end(), static_cast<std::size_t>(each), n);
    }
  }
  return grants;
}

}  // namespace rubato::sim
