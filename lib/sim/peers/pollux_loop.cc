// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/pollux_loop.h"

#include <algorithm>

#include "lib/sim/peers/held_gpus.h"

namespace rubato::sim {
namespace {

class Loop {
 public:
  Loop(const JobList& jobs, const ClusterShape& cluster, const AdaptiveApps& apps,
       PolluxPolicy& policy, const RunControl& control)
      : cluster_(cluster), policy_(policy), control_(control) {
    record_.jobs.resize(jobs.size());
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      PolluxJob state;
      state.job = &jobs[j];
      state.run.app = &apps.at(jobs[j].model);
      state.most_local = pollux_most_local(*state.run.app);
      state.result = &record_.jobs[j];
      state.result->arrival = jobs[j].arrival;
      jobs_.push_back(std::move(state));
    }
  }

  RunRecord run() {
    HeldGpus held(record_, control_.segments);
    double clock = 0;
    while (finished_ < jobs_.size()) {
      if (control_.cut(clock)) {
        record_.cut = true;
        break;
      }
      for (PolluxJob& job : jobs_) advance_job(job, clock);
      clock += kPolluxRound;
      decide(clock);
      if (control_.segments) write_down(held, clock);
      if (control_.progress) {
        control_.progress(clock, static_cast<int>(finished_), static_cast<int>(jobs_.size()));
      }
    }
    held.close(clock);
    record_.end = clock;
    return std::move(record_);
  }

 private:
  void advance_job(PolluxJob& job, double clock) {
    AdaptiveJob& run = job.run;
    if (run.finished() || run.placement.empty()) return;
    AdaptiveHooks hooks;
    hooks.measured = [&](AdaptiveJob&, const StepSeconds& step) { policy_.measured(job, step); };
    hooks.retune = [&](AdaptiveJob& state) { state.split = policy_.split(job); };
    record_.busy_gpu_seconds += run.gpus() * advance(run, clock, kPolluxRound, hooks);
    job.result->gpu_seconds += run.gpus() * kPolluxRound;
    if (!run.finished()) return;
    job.result->finish = run.finish;
    job.nodes.clear();
    ++finished_;
  }

  void decide(double clock) {
    std::vector<PolluxJob*> active;
    for (PolluxJob& job : jobs_) {
      if (job.job->arrival <= clock && !job.run.finished()) active.push_back(&job);
    }
    if (active.empty()) return;
    PolluxGrants grants;
    {
      const RoundTimer timer(record_.round_ms);
      grants = policy_.decide(clock, active);
    }
    for (std::size_t i = 0; i < active.size(); ++i) take(*active[i], grants[i], clock);
  }

  void take(PolluxJob& job, const std::vector<int>& nodes, double clock) {
    if (nodes == job.nodes) return;
    job.nodes = nodes;
    job.run.type = nodes.empty() ? -1 : 0;
    job.run.placement = run_lengths(nodes);
    if (nodes.empty()) return;
    job.run.delay = kPolluxRestart;
    if (job.result->first_start < kNever) {
      ++job.result->restarts;
    } else {
      job.result->first_start = clock;
    }
    job.run.split = policy_.split(job);
  }

  void write_down(HeldGpus& held, double clock) const {
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      std::vector<int> gpus(static_cast<std::size_t>(cluster_.groups[0].nodes), 0);
      for (const int node : jobs_[j].nodes) ++gpus[static_cast<std::size_t>(node)];
      held.set(j, 0, gpus, clock);
    }
  }

  const ClusterShape& cluster_;
  PolluxPolicy& policy_;
  const RunControl& control_;
  std::vector<PolluxJob> jobs_;
  RunRecord record_;
  std::size_t finished_ = 0;
};

}  // namespace

BatchSplit PolluxPolicy::split(const PolluxJob& job) const {
  const AdaptiveApp& app = *job.run.app;
  const bool apart = job.gpus() == 1 && job.job->batch > static_cast<double>(app.first_batch());
  return split_batch(job.job->batch, job.gpus(), job.most_local, app.most_batch(), apart);
}

std::int64_t pollux_most_local(const AdaptiveApp& app) {
  // The artifact's own table of applications.
  return app.name() == "yolov3" ? 8 : app.table(0).most();
}

RunRecord replay_pollux(const JobList& jobs, const ClusterShape& cluster, const AdaptiveApps& apps,
                        PolluxPolicy& policy, const RunControl& control) {
  return Loop(jobs, cluster, apps, policy, control).run();
}

std::vector<int> take_most_free(std::vector<int>& free, int gpus) {
  std::vector<int> out;
  while (gpus > 0) {
    const auto node = std::ranges::max_element(free);
    const int taken = std::min(*node, gpus);
    if (taken <= 0) return out;
    out.insert(out.end(), static_cast<std::size_t>(taken), static_cast<int>(node - free.begin()));
    *node -= taken;
    gpus -= taken;
  }
  return out;
}

std::vector<int> free_beside(const PolluxGrants& held, int nodes, int node_gpus) {
  std::vector<int> free(static_cast<std::size_t>(nodes), node_gpus);
  for (const std::vector<int>& job : held) {
    for (const int node : job) --free[static_cast<std::size_t>(node)];
  }
  return free;
}

}  // namespace rubato::sim
