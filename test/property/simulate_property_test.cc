// SPDX-License-Identifier: GPL-2.0-or-later
// Invariants of every simulation: nothing is allocated twice, every job runs once, no GPU idles
// without a reason.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <map>
#include <set>

#include "lib/replay/simulate.h"
#include "test/support/gen_snapshot.h"

namespace rubato::sim {
namespace {

using namespace rubato::test;

Seconds time_of(const Job& job, const Start&) { return 10 + (job.key.id * 37) % 300; }

SimulationInput gen_workload() {
  SimulationInput workload;
  workload.cluster = *gen_snapshot(GenOptions{.twins = false});
  workload.begin = kNow;
  std::set<JobKey> keys;
  for (const Job& job : workload.cluster.jobs) {
    if (!keys.insert(job.key).second) continue;
    if (job.state == JobState::kPending) {
      workload.arrivals.push_back({.job = job, .enters = kNow + gen_int(0, 200)});
    } else {
      workload.holders.push_back({.job = job, .ends = kNow + gen_int(1, 500)});
    }
  }
  return workload;
}

Config all_managed() {
  Config config;
  config.manage_all = true;
  return config;
}

/// All allocations at `time`, one list per run.
std::vector<std::vector<NodeShare>> held_at(const SimulationInput& workload,
                                            const SimulationOutcome& outcome, Seconds time) {
  std::vector<std::vector<NodeShare>> held;
  for (const CompletedRun& run : outcome.runs) {
    if (run.start <= time && time < run.end) held.push_back(run.shares);
  }
  for (const RunningAtStart& holder : workload.holders) {
    if (time < holder.ends) held.push_back(holder.job.allocation);
  }
  return held;
}

RC_GTEST_PROP(SimulateProperty, nothing_is_given_twice, ()) {
  SimulationInput workload = gen_workload();
  // Where Slurm itself places a job, it may take nodes that the plan gives to a later job.
  for (JobArrival& arrival : workload.arrivals) {
    arrival.job.managed = true;
    arrival.job.may_preempt = arrival.job.preempting = false;
  }
  const SimulationOutcome outcome = simulate(workload, Models(), all_managed(), time_of);
  for (const CompletedRun& run : outcome.runs) {  // allocations grow only at starts
    std::map<NodeIndex, int> cores;
    std::map<NodeIndex, MiB> memory;
    std::map<std::pair<NodeIndex, std::string>, int> gpus;
    for (const auto& shares : held_at(workload, outcome, run.start)) {
      for (const NodeShare& share : shares) {
        cores[share.node] += share.cores;
        memory[share.node] += share.memory;
        for (const GpuCount& group : share.gpus) gpus[{share.node, group.type}] += group.count;
      }
    }
    for (const NodeShare& share : run.shares) {
      const Node& node = workload.cluster.nodes[share.node];
      RC_ASSERT(cores[share.node] <= node.cores);
      RC_ASSERT(memory[share.node] <= node.memory);
      for (const GpuGroup& group : node.gpus)
        RC_ASSERT((gpus[{share.node, group.type}] <= group.total));
    }
  }
  RC_ASSERT(outcome.refused == 0);
}

RC_GTEST_PROP(SimulateProperty, every_job_runs_once_or_waits, ()) {
  const SimulationInput workload = gen_workload();
  const SimulationOutcome outcome = simulate(workload, Models(), all_managed(), time_of);
  std::map<JobKey, int> seen;
  for (const CompletedRun& run : outcome.runs) ++seen[run.job];
  for (const JobKey& key : outcome.waited) ++seen[key];
  RC_ASSERT(seen.size() == workload.arrivals.size());
  for (const JobArrival& arrival : workload.arrivals) {
    RC_ASSERT(seen[arrival.job.key] == 1);
    const auto run =
        std::find_if(outcome.runs.begin(), outcome.runs.end(),
                     [&](const CompletedRun& one) { return one.job == arrival.job.key; });
    if (run == outcome.runs.end()) continue;
    RC_ASSERT(run->start >= arrival.enters);
    RC_ASSERT(run->end - run->start ==
              std::max<Seconds>(1, std::min(time_of(arrival.job, {}), arrival.job.time_limit)));
  }
}

RC_GTEST_PROP(SimulateProperty, the_order_of_the_arrivals_does_not_matter, ()) {
  SimulationInput workload = gen_workload();
  for (std::size_t i = 0; i < workload.arrivals.size(); ++i)
    workload.arrivals[i].enters += static_cast<Seconds>(i);
  const SimulationOutcome once = simulate(workload, Models(), all_managed(), time_of);
  std::reverse(workload.arrivals.begin(), workload.arrivals.end());
  RC_ASSERT(simulate(workload, Models(), all_managed(), time_of) == once);
}

RC_GTEST_PROP(SimulateProperty, no_gpu_idles_while_a_job_waits, ()) {
  const int gpus = gen_int(1, 6);
  SimulationInput workload{.cluster = make_cluster({{"a100", gpus}}), .begin = kNow};
  const int jobs = gen_int(1, 20);
  Seconds work = 0;
  for (int i = 0; i < jobs; ++i) {
    Snapshot empty = workload.cluster;
    Job job = add_pending(empty, 1);
    job.key.id = static_cast<JobId>(i + 1);
    workload.arrivals.push_back({.job = job, .enters = kNow});
    work += time_of(job, {});
  }
  const SimulationOutcome outcome = simulate(workload, Models(), all_managed(), time_of);
  RC_ASSERT(outcome.runs.size() == static_cast<std::size_t>(jobs));
  Seconds held = 0;
  Seconds last_start = 0;
  for (const CompletedRun& run : outcome.runs) {
    held += run.end - run.start;
    last_start = std::max(last_start, run.start);
  }
  RC_ASSERT(held == work);
  for (Seconds time = kNow; time < last_start; ++time) {
    RC_ASSERT(static_cast<int>(held_at(workload, outcome, time).size()) == gpus);
  }
}

// A job of net runs 200 to 6200 s at the size that it requests.
Seconds scaled_time(const Job& job, const Start& start) {
  int gpus = 0;
  for (const NodeShare& share : start.shares) gpus += share.gpu_count();
  const double ratio = static_cast<double>(job.request.gpus) / std::max(gpus, 1);
  return std::llround(20 * static_cast<double>(time_of(job, start)) * std::pow(ratio, .8));
}

Models scaling() {
  const std::map<std::string, double> speeds{{"a100", 1}};
  std::vector<ThroughputObservation> all;
  for (int gpus = 1; gpus <= 8; gpus *= 2)
    all.push_back({{"lab", "net"}, "a100", gpus, 10 * std::pow(gpus, .8), 50});
  return Models(speeds, std::make_shared<const ThroughputModel>(TypeSpeeds(speeds), all));
}

Job gen_changing(Snapshot& snapshot, int most) {
  Job job = add_pending(snapshot, gen_int(1, most));
  job.account = "lab";
  job.time_limit = 86400;
  job.hints = ResolvedHints();
  job.hints->job_type = "net";
  job.hints->resize = *rc::gen::element(Resize::kNone, Resize::kRestart, Resize::kLive);
  if (*rc::gen::arbitrary<bool>()) job.hints->sizes = GpuSizes({{1, most}});
  if (*rc::gen::arbitrary<bool>()) job.hints->checkpoint.signal = SIGUSR1;
  if (*rc::gen::arbitrary<bool>())
    job.hints->work = Work{WorkUnit::kSamples, gen_int(10, 50000), 0};
  return job;
}

RC_GTEST_PROP(SimulateProperty, mode_elastic_loses_no_job_and_no_work, ()) {
  const int most = gen_int(2, 8);
  SimulationInput workload;
  workload.cluster = make_cluster({{"a100", most}, {"a100", most}});
  workload.begin = kNow;
  std::map<JobKey, Job> jobs;
  for (int i = gen_int(2, 12); i > 0; --i) {
    Snapshot empty = workload.cluster;
    Job job = gen_changing(empty, most);
    job.key.id = static_cast<JobId>(i);
    jobs.emplace(job.key, job);
    workload.arrivals.push_back({.job = job, .enters = kNow + gen_int(0, 400)});
  }
  Config config = all_managed();
  config.mode = Mode::kElastic;
  config.restart_cost = gen_int(0, 60);
  const SimulationOutcome outcome =
      simulate(workload, scaling(), config, scaled_time, {.changes = true});
  RC_ASSERT(outcome.complete);
  RC_ASSERT(outcome.waited.empty());
  RC_ASSERT(outcome.refused == 0);
  RC_ASSERT(outcome.runs.size() == jobs.size());
  int changes = 0;
  for (const CompletedRun& run : outcome.runs) {
    const Job& job = jobs.at(run.job);
    const bool consents = job.hints->checkpoint.signal != 0 && job.hints->resize != Resize::kNone;
    const bool live = job.hints->resize == Resize::kLive;
    if (!consents) RC_ASSERT(run.restarts == 0);
    if (!live) RC_ASSERT(run.resizes == 0);
    const int fastest = job.hints->sizes.empty() ? job.request.gpus : 2 * most;
    const double least = 20 * static_cast<double>(time_of(job, {})) *
                         std::pow(static_cast<double>(job.request.gpus) / fastest, .8);
    const auto costs = static_cast<double>(run.restarts * config.restart_cost);
    // Each part of a run is rounded to a second.
    RC_ASSERT(static_cast<double>(run.end - run.start) >=
              least + costs - 2 * (1 + run.restarts + run.resizes));
    if (run.restarts + run.resizes == 0 && run.gpus == job.request.gpus)
      RC_ASSERT(run.end - run.start == 20 * time_of(job, {}));
    changes += run.restarts + run.resizes;
  }
  RC_CLASSIFY(changes > 0, "a job changes");
}

}  // namespace
}  // namespace rubato::sim
