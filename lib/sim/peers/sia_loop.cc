// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/sia_loop.h"

#include <algorithm>
#include <array>

#include "lib/sim/peers/held_gpus.h"

namespace rubato::sim {
namespace {

constexpr std::array<SiaConstants, 5> kConstants{{
    {"bert", 120, 120, 1.2},
    {"cifar10", 50, 30, 1.8},
    {"deepspeech2", 25, 25, 1.2},
    {"imagenet", 250, 250, 1.2},
    {"yolov3", 80, 45, 1.2},
}};

class Loop {
 public:
  Loop(const JobList& jobs, const ClusterShape& cluster, const AdaptiveApps& apps,
       SiaPolicy& policy, const RunControl& control)
      : cluster_(cluster), policy_(policy), control_(control) {
    record_.jobs.resize(jobs.size());
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      SiaJob state;
      state.job = &jobs[j];
      state.run.app = &apps.at(jobs[j].model);
      state.constants = sia_constants(jobs[j].model);
      state.run.slowdown = state.constants->slowdown;
      state.result = &record_.jobs[j];
      state.result->arrival = jobs[j].arrival;
      jobs_.push_back(std::move(state));
    }
  }

  RunRecord run() {
    HeldGpus held(record_, control_.segments);
    const double period = policy_.period();
    double clock = 0;
    while (finished_ < jobs_.size()) {
      if (control_.cut(clock)) {
        record_.cut = true;
        break;
      }
      for (SiaJob& job : jobs_) advance_job(job, clock, period);
      clock += period;
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
  void advance_job(SiaJob& job, double clock, double period) {
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
    std::vector<SiaJob*> active;
    for (SiaJob& job : jobs_) {
      if (job.job->arrival <= clock && !job.run.finished()) active.push_back(&job);
    }
    if (active.empty()) return;
    std::vector<SiaGrant> grants;
    {
      const RoundTimer timer(record_.round_ms);
      grants = policy_.decide(clock, active);
    }
    for (std::size_t i = 0; i < active.size(); ++i) take(*active[i], grants[i], clock);
  }

  void take(SiaJob& job, const SiaGrant& grant, double clock) {
    const std::vector<int> placement = run_lengths(grant.nodes);
    const bool same = grant.type == job.run.type && placement == job.run.placement;
    job.held = grant;
    if (same) return;
    job.run.type = grant.type;
    job.run.placement = placement;
    if (placement.empty()) return;
    job.run.delay = job.constants->restart;
    if (job.result->first_start < kNever) {
      ++job.result->restarts;
    } else {
      job.result->first_start = clock;
    }
    job.run.split = policy_.split(job);
  }

  void write_down(HeldGpus& held, double clock) const {
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      const SiaGrant& grant = jobs_[j].held;
      std::vector<int> gpus;
      if (grant.type >= 0) {
        const auto type = static_cast<std::size_t>(grant.type);
        gpus.assign(static_cast<std::size_t>(cluster_.groups[type].nodes), 0);
      }
      for (const int node : grant.nodes) ++gpus[static_cast<std::size_t>(node)];
      held.set(j, grant.type, gpus, clock);
    }
  }

  const ClusterShape& cluster_;
  SiaPolicy& policy_;
  const RunControl& control_;
  std::vector<SiaJob> jobs_;
  RunRecord record_;
  std::size_t finished_ = 0;
};

}  // namespace

const SiaConstants* sia_constants(const std::string& app) {
  const auto at = std::ranges::find(kConstants, app, &SiaConstants::app);
  return at == kConstants.end() ? nullptr : &*at;
}

std::vector<std::string> sia_apps() {
  std::vector<std::string> names;
  for (const SiaConstants& constants : kConstants) names.emplace_back(constants.app);
  return names;
}

BatchSplit SiaPolicy::split(const SiaJob& job) const {
  const AdaptiveApp& app = *job.run.app;
  const bool apart = job.gpus() == 1 && job.job->batch > static_cast<double>(app.first_batch());
  return sia_split(app, job.run.type, job.run.placement, job.job->batch, apart);
}

BatchSplit sia_split(const AdaptiveApp& app, int type, const std::vector<int>& placement,
                     double batch, bool apart) {
  const StepTable& table = app.table(type);
  int gpus = 0;
  for (const int each : placement) gpus += each;
  BatchSplit split = split_batch(batch, gpus, table.fits(placement), app.most_batch(), apart);
  if (const auto most = table.fits_gpus(gpus); most > 0) split.local = std::min(split.local, most);
  return split;
}

RunRecord replay_sia(const JobList& jobs, const ClusterShape& cluster, const AdaptiveApps& apps,
                     SiaPolicy& policy, const RunControl& control) {
  return Loop(jobs, cluster, apps, policy, control).run();
}

}  // namespace rubato::sim
