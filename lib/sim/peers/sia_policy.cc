// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/sia_policy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rubato::sim {
namespace {

constexpr double kPower = -0.5;
constexpr double kNothing = 1.1;  ///< cost of a job without GPUs
constexpr double kSmall = 1e-4;   ///< goodput that stands for none
constexpr double kMostCost = 3000;
constexpr int kMostGpus = 64;

/// Largest local batch that the planner takes a type for; the artifact has one of its own.
std::int64_t planned_most(const AdaptiveApp& app, const std::string& type, int index) {
  if (app.name() == "deepspeech2" && type == "rtx") return 57;
  return app.table(index).most();
}

}  // namespace

std::vector<int> choose_configurations(const std::vector<std::vector<double>>& costs,
                                       const std::vector<SiaConfiguration>& configurations,
                                       const std::vector<int>& gpus) {
  std::vector<std::size_t> strides;
  std::size_t states = 1;
  for (const int most : gpus) {
    strides.push_back(states);
    states *= static_cast<std::size_t>(most) + 1;
  }
  const auto free_in = [&](std::size_t state, int type) {
    const auto t = static_cast<std::size_t>(type);
    return static_cast<int>(state / strides[t] % (static_cast<std::size_t>(gpus[t]) + 1));
  };
  std::vector<std::vector<int>> free(gpus.size(), std::vector<int>(states));
  for (std::size_t t = 0; t < gpus.size(); ++t) {
    for (std::size_t s = 0; s < states; ++s) free[t][s] = free_in(s, static_cast<int>(t));
  }
  // best[s]: least cost of the jobs behind, with what state s has free.
  std::vector<double> best(states, 0);
  std::vector<std::vector<signed char>> choices(costs.size(), std::vector<signed char>(states, -1));
  for (std::size_t j = costs.size(); j-- > 0;) {
    std::vector<double> now = best;
    for (std::size_t c = 0; c < configurations.size(); ++c) {
      const double cost = costs[j][c];
      if (cost >= 0) continue;
      const SiaConfiguration& config = configurations[c];
      const auto t = static_cast<std::size_t>(config.type);
      const std::size_t taken = strides[t] * static_cast<std::size_t>(config.gpus);
      for (std::size_t s = taken; s < states; ++s) {
        if (free[t][s] < config.gpus) continue;
        const double value = best[s - taken] + cost;
        // Sums in another order differ by rounding alone.
        if (value >= now[s] - 1e-9) continue;
        now[s] = value;
        choices[j][s] = static_cast<signed char>(c);
      }
    }
    best = std::move(now);
  }
  std::vector<int> chosen(costs.size(), -1);
  std::size_t state = states - 1;
  for (std::size_t j = 0; j < costs.size(); ++j) {
    chosen[j] = choices[j][state];
    if (chosen[j] < 0) continue;
    const SiaConfiguration& config = configurations[static_cast<std::size_t>(chosen[j])];
    state -= strides[static_cast<std::size_t>(config.type)] * static_cast<std::size_t>(config.gpus);
  }
  return chosen;
}

SiaOwn::SiaOwn(const ClusterShape& cluster) : cluster_(cluster) {
  for (int type = 0; type < cluster.types(); ++type) {
    const NodeGroup& group = cluster.groups[static_cast<std::size_t>(type)];
    for (int gpus = 1; gpus <= group.gpus_per_node; gpus *= 2) {
      configurations_.push_back({type, 1, gpus});
    }
    for (int nodes = 2; nodes <= group.nodes; ++nodes) {
      configurations_.push_back({type, nodes, nodes * group.gpus_per_node});
    }
  }
}

void SiaOwn::measured(SiaJob& job, const StepSeconds& step) {
  Known& known = known_[&job];
  known.types.resize(static_cast<std::size_t>(cluster_.types()));
  known.any = true;
  known.gradient = job.run.app->gradient(job.run.batch(), job.run.epoch);
  Known::OnType& type = known.types[static_cast<std::size_t>(job.run.type)];
  const int gpus = job.run.gpus();
  const bool is_new =
      type.points
          .try_emplace({static_cast<int>(job.run.placement.size()), gpus, job.run.split.local},
                       step)
          .second;
  if (!is_new) return;
  type.most_gpus = std::max(type.most_gpus, gpus);
  type.model = fit_adaptive(type.points);
}

/// With a model of the type the best batch up to the application's largest, else one that keeps
/// all GPUs busy.
BatchSplit SiaOwn::split(const SiaJob& job) const {
  const AdaptiveApp& app = *job.run.app;
  const StepTable& table = app.table(job.run.type);
  const int gpus = job.run.gpus();
  const auto first = static_cast<double>(app.first_batch());
  const auto known = known_.find(&job);
  const Known::OnType* type = known == known_.end()
                                  ? nullptr
                                  : &known->second.types[static_cast<std::size_t>(job.run.type)];
  if (type == nullptr || !type->model) {
    const double batch = std::max(first, static_cast<double>(table.least()) * gpus);
    return sia_split(app, job.run.type, job.run.placement, batch, gpus == 1 && batch > first);
  }
  const BatchBounds bounds{first, static_cast<double>(app.most_batch()), table.least(),
                           table.fits(job.run.placement)};
  BatchSplit split = best_split(*type->model, known->second.gradient,
                                static_cast<int>(job.run.placement.size()), gpus, bounds)
                         .split;
  if (const auto most = table.fits_gpus(gpus); most > 0) split.local = std::min(split.local, most);
  split.local = std::min(split.local, app.most_batch() / (gpus * (split.passes + 1)));
  split.local = std::max<std::int64_t>(split.local, 1);
  return split;
}

/// Of each configuration; kSmall where it is not to be had.
std::vector<double> SiaOwn::goodputs(const SiaJob& job, const Known& known) const {
  const AdaptiveApp& app = *job.run.app;
  std::vector<double> out(configurations_.size(), kSmall);
  int cap = 1;
  int modelled = -1;
  for (int type = 0; type < cluster_.types(); ++type) {
    const Known::OnType& on = known.types[static_cast<std::size_t>(type)];
    const auto most = static_cast<int>(app.most_batch() / app.table(type).least());
    cap = std::max(cap, std::min({std::max(2 * on.most_gpus, 1), kMostGpus, most}));
    if (modelled < 0 && on.model) modelled = type;
  }
  for (std::size_t c = 0; c < configurations_.size(); ++c) {
    const SiaConfiguration& config = configurations_[c];
    if (config.gpus > cap) continue;
    // A type it never ran on is taken for one it did, by the speed of a single GPU.
    const bool own = known.types[static_cast<std::size_t>(config.type)].model.has_value();
    const int type = own ? config.type : modelled;
    const NodeGroup& group = cluster_.groups[static_cast<std::size_t>(type)];
    const int nodes =
        own ? config.nodes : (config.gpus + group.gpus_per_node - 1) / group.gpus_per_node;
    const BatchBounds bounds{static_cast<double>(app.first_batch()), job.job->batch,
                             app.table(type).least(), planned_most(app, group.type, type)};
    const double goodput = best_split(*known.types[static_cast<std::size_t>(type)].model,
                                      known.gradient, nodes, config.gpus, bounds)
                               .goodput;
    const double factor =
        own ? 1 : app.table(config.type).single_rate() / app.table(type).single_rate();
    out[c] = goodput * factor;
  }
  return out;
}

int SiaOwn::held(const SiaJob& job) const {
  for (std::size_t c = 0; c < configurations_.size(); ++c) {
    const SiaConfiguration& config = configurations_[c];
    if (config.type == job.held.type && config.gpus == job.gpus()) return static_cast<int>(c);
  }
  return -1;
}

/// Cost of each configuration beside that of none.
std::vector<double> SiaOwn::costs(double now, const SiaJob& job) const {
  std::vector<double> values(configurations_.size(), kSmall);
  const auto known = known_.find(&job);
  if (known == known_.end()) {
    for (std::size_t c = 0; c < values.size(); ++c) {
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
  const int kept = held(job);
  const double age = now - job.job->arrival;
  const double restart = job.constants->policy_restart;
  double factor = 1;
  if (kept >= 0 && age >= restart) {
    factor = std::max(age - job.result->restarts * restart, 0.0) / (age + restart);
  }
  for (std::size_t c = 0; c < values.size(); ++c) {
    const double value = static_cast<int>(c) == kept ? values[c] : values[c] * factor;
    const double cost = std::nearbyint(100 * std::min(std::pow(value, kPower), kMostCost)) / 100;
    values[c] = cost - kNothing;
  }
  return values;
}

std::vector<SiaGrant> SiaOwn::decide(double now, std::span<SiaJob* const> active) {
  std::vector<int> gpus;
  for (int type = 0; type < cluster_.types(); ++type) gpus.push_back(cluster_.gpus(type));
  std::vector<int> chosen(active.size(), -1);
  std::vector<std::vector<double>> rows;
  std::vector<std::size_t> jobs;
  for (std::size_t i = 0; i < active.size(); ++i) {
    const int kept = held(*active[i]);
    if (kept >= 0 && active[i]->run.delay > 0) {  // it starts: it stays
      chosen[i] = kept;
      gpus[static_cast<std::size_t>(active[i]->held.type)] -= active[i]->gpus();
      continue;
    }
    rows.push_back(costs(now, *active[i]));
    jobs.push_back(i);
  }
  const std::vector<int> found = choose_configurations(rows, configurations_, gpus);
  for (std::size_t k = 0; k < jobs.size(); ++k) chosen[jobs[k]] = found[k];
  return place(chosen);
}

/// Larger ones first, so that none that fits a node is split.
std::vector<SiaGrant> SiaOwn::place(const std::vector<int>& chosen) const {
  std::vector<SiaGrant> grants(chosen.size());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i] >= 0) order.push_back(i);
  }
  const auto config = [&](std::size_t i) -> const SiaConfiguration& {
    return configurations_[static_cast<std::size_t>(chosen[i])];
  };
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return config(i).gpus; });
  std::vector<std::vector<int>> free;
  for (const NodeGroup& group : cluster_.groups) {
    free.emplace_back(static_cast<std::size_t>(group.nodes), group.gpus_per_node);
  }
  for (const std::size_t i : order) {
    const SiaConfiguration& wanted = config(i);
    grants[i].type = wanted.type;
    std::vector<int>& nodes = free[static_cast<std::size_t>(wanted.type)];
    const int each = wanted.gpus / wanted.nodes;
    int left = wanted.nodes;
    for (std::size_t n = 0; n < nodes.size() && left > 0; ++n) {
      if (nodes[n] < each) continue;
      nodes[n] -= each;
      --left;
      grants[i].nodes.insert(grants[i].nodes.end(), static_cast<std::size_t>(each),
                             static_cast<int>(n));
    }
  }
  return grants;
}

}  // namespace rubato::sim
