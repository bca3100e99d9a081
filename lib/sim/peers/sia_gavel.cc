// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/sia_gavel.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lib/sim/engine/truth.h"
#include "lib/sim/solver/lp.h"

namespace rubato::sim {
namespace {

constexpr double kRound = 360;
constexpr double kTooLarge = 0.1;  ///< iterations/s of a job larger than its type

/// Throughput with the user's batch. One GPU always runs an accumulation pass here.
double user_throughput(const LoopJob& job, const ClusterShape& cluster, TypeIndex type) {
  const int gpus = job.job->gpus;
  if (gpus > cluster.gpus(type)) return kTooLarge;
  const std::vector<int> placement = packed(cluster, type, gpus).placement;
  const AdaptiveApp& app = job.app();
  const BatchSplit split = split_batch(job.job->batch, gpus, app.table(type).fits(placement),
                                       app.most_batch(), gpus == 1);
  const StepSeconds step = app.table(type).at(placement, static_cast<double>(split.local));
  return 1 / step.with(split.passes) / job.rules->slowdown;
}

}  // namespace

void SiaGavel::meet(const LoopJob& job) {
  if (known_.contains(&job)) return;
  Known known;
  received_.resize(cluster_.types(), 0);
  for (const TypeIndex type : cluster_.type_indices()) {
    known.throughputs.push_back(user_throughput(job, cluster_, type));
    known.received.push_back(kRound / 2);
    received_[type] += kRound / 2;
  }
  known_.emplace(&job, std::move(known));
}

/// Maximises the sum of throughputs. The shares of a job sum to at most 1; a type's GPUs are the
/// limit.
std::vector<SiaGavel::Shares> SiaGavel::shares(std::span<LoopJob* const> active) const {
  const auto types = static_cast<double>(cluster_.types());
  LinearProgram lp;
  double gpus = 0;
  for (const LoopJob* job : active) gpus += job->job->gpus;
  std::vector<LinearProgram::Row> capacity(cluster_.types());
  for (const TypeIndex t : cluster_.type_indices()) capacity[t].bound = cluster_.gpus(t);
  for (const LoopJob* job : active) {
    LinearProgram::Row whole{{}, 1};
    for (const TypeIndex t : cluster_.type_indices()) {
      const VariableIndex variable{lp.objective.size()};
      lp.objective.push_back(known_.at(job).throughputs[t]);
      lp.start.push_back(std::min(cluster_.gpus(t) / gpus, 1.0 / types) / 2);
      whole.terms.emplace_back(variable, 1);
      capacity[t].terms.emplace_back(variable, job->job->gpus);
    }
    lp.rows.push_back(std::move(whole));
  }
  for (auto& row : capacity) lp.rows.push_back(std::move(row));
  const auto solved = solve_centre(lp);
  const std::vector<double>& x = solved ? *solved : lp.start;
  std::vector<Shares> out(active.size());
  std::size_t v = 0;
  for (Shares& job : out) {
    for (std::size_t t = 0; t < cluster_.types(); ++t, ++v) {
      // Rounded to five decimals, as in the artifact.
      job.push_back(std::nearbyint(std::clamp(x[v], 0.0, 1.0) * 1e5) / 1e5);
    }
  }
  return out;
}

/// One list over all types: jobs with the least time relative to their share come first.
std::vector<SiaGavel::Chosen> SiaGavel::select(std::span<LoopJob* const> active,
                                               const std::vector<Shares>& shares) {
  struct Entry {
    Chosen chosen;
    double priority = 0;
    double share = 0;
  };
  std::vector<Entry> queue;
  std::vector<int> free;
  for (const TypeIndex type : cluster_.type_indices()) {
    free.push_back(cluster_.gpus(type));
    for (std::size_t i = 0; i < active.size(); ++i) {
      const double share = shares[i][type];
      const double received = known_.at(active[i]).received[type] / received_[type];
      queue.push_back({{i, type}, share / received, share});
    }
  }
  std::ranges::stable_sort(queue, [](const Entry& a, const Entry& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.share > b.share;
  });
  std::vector<Chosen> out;
  std::vector<bool> taken(active.size(), false);
  for (const Entry& entry : queue) {
    const TypeIndex type = entry.chosen.type;
    const LoopJob* job = active[entry.chosen.job];
    if (taken[entry.chosen.job] || job->job->gpus > free[type]) continue;
    taken[entry.chosen.job] = true;
    free[type] -= job->job->gpus;
    known_.at(job).received[type] += kRound;
    received_[type] += kRound;
    out.push_back(entry.chosen);
  }
  return out;
}

/// Larger jobs first. Within a size, first jobs that can keep their GPUs, then the others on the
/// lowest free GPUs, numbered across nodes.
void SiaGavel::place(TypeIndex type, const std::vector<const LoopJob*>& jobs) {
  std::vector<int> sizes;
  sizes.reserve(jobs.size());
  for (const LoopJob* job : jobs) sizes.push_back(job->job->gpus);
  std::ranges::sort(sizes, std::greater<>());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::vector<bool> taken(static_cast<std::size_t>(cluster_.gpus(type)), false);
  const auto is_taken = [&](GpuIndex gpu) { return taken[gpu]; };
  GpuIndex next = 0;
  for (const int size : sizes) {
    std::vector<const LoopJob*> others;
    for (const LoopJob* job : jobs) {
      if (job->job->gpus != size) continue;
      const Known& known = known_.at(job);
      if (known.type != type || std::ranges::any_of(known.places, is_taken)) {
        others.push_back(job);
        continue;
      }
      for (const GpuIndex gpu : known.places) taken[gpu] = true;
    }
    for (const LoopJob* job : others) {
      Known& known = known_.at(job);
      known.places.clear();
      for (; std::cmp_less(known.places.size(), size); ++next) {
        if (is_taken(next)) continue;
        taken[next] = true;
        known.places.push_back(next);
      }
    }
  }
  for (const LoopJob* job : jobs) known_.at(job).type = type;
}

std::vector<LoopGrant> SiaGavel::decide(double /*now*/, std::span<LoopJob* const> active) {
  for (const LoopJob* job : active) meet(*job);
  if (!std::ranges::equal(active, solved_for_)) {
    solved_ = shares(active);
    solved_for_.assign(active.begin(), active.end());
  }
  const std::vector<Chosen> chosen = select(active, solved_);
  std::vector<LoopGrant> grants(active.size());
  for (const TypeIndex type : cluster_.type_indices()) {
    std::vector<const LoopJob*> jobs;
    for (const Chosen& c : chosen) {
      if (c.type == type) jobs.push_back(active[c.job]);
    }
    place(type, jobs);
  }
  for (LoopJob* const job : active) known_.at(job).type = {};
  for (const Chosen& c : chosen) {
    Known& known = known_.at(active[c.job]);
    known.type = c.type;
    grants[c.job].type = c.type;
    const int node_gpus = cluster_.groups[c.type].gpus_per_node;
    for (const GpuIndex gpu : known.places) {
      grants[c.job].nodes.push_back(GroupNodeIndex{gpu.value() / node_gpus});
    }
  }
  return grants;
}

}  // namespace rubato::sim
