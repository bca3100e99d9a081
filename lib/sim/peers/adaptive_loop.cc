// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/adaptive_loop.h"

#include <algorithm>

#include "lib/sim/peers/held_gpus.h"

namespace rubato::sim {
namespace {

class Loop {
 public:
  Loop(const JobList& jobs, const ClusterShape& cluster, const AdaptiveWorld& world,
       LoopPolicy& policy, const RunControl& control)
      : cluster_(cluster), rules_(*world.rules), policy_(policy), control_(control) {
    record_.jobs.resize(jobs.size());
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      LoopJob state;
      state.job = &jobs[j];
      state.run.app = &world.apps.at(jobs[j].model);
      state.rules = &rules_.of(*state.run.app);
      state.run.slowdown = state.rules->slowdown;
      state.result = &record_.jobs[j];
      state.result->arrival = jobs[j].arrival;
      jobs_.push_back(std::move(state));
    }
  }

  Result<RunMetrics> run() {
    GpuIntervals held(record_, control_.intervals);
    const double period = policy_.period();
    double clock = 0;
    while (finished_ < jobs_.size()) {
      if (control_.cut(clock)) {
        record_.cut = true;
        break;
      }
      for (LoopJob& job : jobs_) advance_job(job, clock, period);
      clock += period;
      decide(clock);
      if (!policy_.failure().empty() && !control_.cut(clock)) return fail(policy_.failure());
      if (control_.intervals) write_down(held, clock);
      if (control_.progress) {
        control_.progress(clock, finished_, jobs_.size());
      }
    }
    held.close(clock);
    record_.end = clock;
    return std::move(record_);
  }

 private:
  void advance_job(LoopJob& job, double clock, double period) {
    AdaptiveJob& run = job.run;
    if (run.finished() || run.placement.empty()) return;
    AdaptiveHooks hooks;
    hooks.measured = [&](AdaptiveJob&, const StepSeconds& step) { policy_.measured(job, step); };
    hooks.retune = [&](AdaptiveJob& state) { state.split = policy_.split(job); };
    record_.busy_gpu_seconds += run.gpus() * advance(run, clock, period, hooks);
    job.result->gpu_seconds += run.gpus() * period;
    if (!run.finished()) return;
    job.result->finish = run.finish;
    job.held = {};
    ++finished_;
  }

  void decide(double clock) {
    std::vector<LoopJob*> active;
    for (LoopJob& job : jobs_) {
      if (job.job->arrival <= clock && !job.run.finished()) active.push_back(&job);
    }
    if (active.empty()) return;
    std::vector<LoopGrant> grants;
    {
      const RoundTimer timer(record_.round_ms);
      grants = policy_.decide(clock, active);
    }
    for (std::size_t i = 0; i < active.size(); ++i) take(*active[i], grants[i], clock);
  }

  void take(LoopJob& job, const LoopGrant& grant, double clock) {
    const std::vector<int> placement = run_lengths(grant.nodes);
    const bool moved = rules_.moves_restart && grant.nodes != job.held.nodes;
    const bool same = !moved && grant.type == job.run.type && placement == job.run.placement;
    job.held = grant;
    if (same) return;
    job.run.type = grant.type;
    job.run.placement = placement;
    if (placement.empty()) return;
    job.run.delay = job.rules->restart;
    if (job.result->first_start < kNever) {
      ++job.result->restarts;
    } else {
      job.result->first_start = clock;
    }
    job.run.split = policy_.split(job);
  }

  void write_down(GpuIntervals& held, double clock) const {
    for (const auto j : indices<JobIndex>(jobs_)) {
      const LoopGrant& grant = jobs_[j].held;
      std::vector<int> gpus;
      if (grant.type.valid()) gpus.assign(cluster_.groups[grant.type].node_count(), 0);
      for (const GroupNodeIndex node : grant.nodes) ++gpus[node];
      held.set(j, grant.type, gpus, clock);
    }
  }

  const ClusterShape& cluster_;
  const AdaptiveRules& rules_;
  LoopPolicy& policy_;
  const RunControl& control_;
  std::vector<LoopJob> jobs_;
  RunMetrics record_;
  std::size_t finished_ = 0;
};

}  // namespace

BatchSplit LoopPolicy::split(const LoopJob& job) const {
  return rules_.fixed(job.app(), job.run.type, job.run.placement, job.job->batch);
}

Result<RunMetrics> replay_adaptive(const JobList& jobs, const ClusterShape& cluster,
                                   const AdaptiveWorld& world, LoopPolicy& policy,
                                   const RunControl& control) {
  return Loop(jobs, cluster, world, policy, control).run();
}

std::vector<GroupNodeIndex> take_most_free(std::vector<int>& free, int gpus) {
  std::vector<GroupNodeIndex> out;
  while (gpus > 0) {
    const auto node = std::ranges::max_element(free);
    const int taken = std::min(*node, gpus);
    if (taken <= 0) return out;
    for (int i = 0; i < taken; ++i) out.push_back(GroupNodeIndex{node - free.begin()});
    *node -= taken;
    gpus -= taken;
  }
  return out;
}

std::vector<int> free_beside(const std::vector<LoopGrant>& held, const NodeGroup& group) {
  std::vector<int> free(group.node_count(), group.gpus_per_node);
  for (const LoopGrant& job : held) {
    for (const GroupNodeIndex node : job.nodes) --free[node];
  }
  return free;
}

}  // namespace rubato::sim
