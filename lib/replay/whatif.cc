// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/replay/whatif.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/forecast.h"
#include "lib/policy/algorithms/job_forecast.h"
#include "lib/policy/algorithms/need.h"
#include "lib/policy/predict.h"

namespace rubato {
namespace {

// The new job comes after all others of its priority.
constexpr JobId kLastId = std::numeric_limits<JobId>::max();

JobId largest_id(const Snapshot& snapshot) {
  JobId largest = 0;
  for (const Job& job : snapshot.jobs) largest = std::max(largest, job.key.id);
  return largest;
}

// Expected run times of jobs.
class RunTimes {
 public:
  RunTimes(const Snapshot& snapshot, const Models& models, const Config& config)
      : input_{snapshot, models, config, snapshot.taken} {
    const Capacity capacity(snapshot, snapshot.taken);
    needs_ = predict(input_, capacity.types()).needs;
  }

  // From the job's stated work and its forecast throughput; nullopt: unknown.
  [[nodiscard]] std::optional<Seconds> told(const Job& job, const std::string& gpu_type,
                                            const std::vector<NodeShare>& shares) const {
    const ThroughputForecasts& forecasts = input_.models.forecasts();
    const std::optional<double> left = work_left(input_.snapshot, job);
    if (!left || !forecasts.measured() || gpu_type.empty()) return std::nullopt;
    const Forecast f = forecast_at(input_, job, resources_of(gpu_type, shares));
    if (!f.known_profile || !f.feasible || !(f.goodput() > 0)) return std::nullopt;
    return whole(*left / f.goodput() + forecasts.start_seconds(job.key), job);
  }

  [[nodiscard]] Seconds expected(const Job& job, const Start& start) const {
    if (const auto known = told(job, start.gpu_type, start.shares)) return *known;
    const JobNeed* const need = need_of(needs_, job.key);
    if (need == nullptr) return job.time_limit;
    return whole(need->gpu_seconds / std::max(1, job.request.gpus_on(job.request.min_nodes)), job);
  }

 private:
  static Seconds whole(double seconds, const Job& job) {
    const auto limit = static_cast<double>(job.time_limit);
    return static_cast<Seconds>(std::llround(std::clamp(seconds, 1.0, std::max(limit, 1.0))));
  }

  RoundInput input_;
  std::vector<JobNeed> needs_;
};

// Splits an array into its tasks that may start. Further tasks get ids from `next` on.
std::vector<Job> tasks_of(const Job& job, JobId& next) {
  std::vector<Job> tasks(static_cast<std::size_t>(std::max(1, job.tasks)), job);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (i > 0) tasks[i].key.id = next++;
    tasks[i].tasks = 1;
  }
  return tasks;
}

// One job without an end per node whose used resources exceed those of the listed jobs.
std::vector<sim::RunningAtStart> hidden_holders(const Snapshot& now) {
  Snapshot rest = now;  // its free resources: in use by no listed job
  for (Node& node : rest.nodes) {
    node.cores_free = node.cores - node.cores_free;
    node.memory_free = node.memory - node.memory_free;
    for (GpuGroup& group : node.gpus) group.free = group.total - group.free;
  }
  for (const Job& job : now.jobs) {
    for (const NodeShare& share : job.allocation) {
      if (!share.node.within(rest.nodes.size())) continue;
      Node& node = rest.nodes[share.node];
      node.cores_free -= share.cores;
      node.memory_free -= share.memory;
      for (const GpuCount& held : share.gpus)
        for (GpuGroup& group : node.gpus) group.free -= group.type == held.type ? held.count : 0;
    }
  }
  std::vector<sim::RunningAtStart> holders;
  for (const NodeIndex at : indices<NodeIndex>(rest.nodes)) {
    const Node& node = rest.nodes[at];
    NodeShare share{at, std::max(0, node.cores_free), std::max<MiB>(0, node.memory_free), {}};
    for (const GpuGroup& group : node.gpus)
      if (group.free > 0) share.gpus.push_back({group.type, group.free});
    if (share.cores == 0 && share.memory == 0 && share.gpus.empty()) continue;
    Job job;
    job.key = {static_cast<JobId>(holders.size()), 0};  // no job of Slurm was submitted at 0
    job.state = JobState::kRunning;
    job.start = now.taken;
    job.time_limit = job.end_limit = kForever;
    job.allocation = {std::move(share)};
    holders.push_back({std::move(job), kForever});
  }
  return holders;
}

}  // namespace

WhatIf::WhatIf(const Snapshot& now, Models models, const Config& config)
    : models_(std::move(models)), config_(config), now_(now) {
  if (config_.mode == Mode::kObserve) config_.mode = Mode::kPlace;
  input_.cluster = now;
  input_.begin = now.taken;
  std::set<JobKey> seen;
  JobId next = largest_id(now) + 1;
  for (const Job& job : now.jobs) {
    if (job.state == JobState::kRunning) {
      input_.holders.push_back({job, 0});
      continue;
    }
    const bool plays = job.block == Block::kNone || job.block == Block::kLeftOut;
    if (!plays) ++blocked_;
    if (!plays || !seen.insert(job.key).second) continue;
    for (Job& task : tasks_of(job, next)) input_.arrivals.push_back({std::move(task), now.taken});
  }
  for (sim::RunningAtStart& hidden : hidden_holders(now)) input_.holders.push_back(hidden);
  for (const sim::CompletedRun& run : play(nullptr, false).runs)
    if (run.start < kForever) alone_.emplace(run.job, run.start);
}

sim::SimulationOutcome WhatIf::play(const Job* job, bool to_limits) const {
  sim::SimulationInput input = input_;
  Snapshot with = now_;
  if (job != nullptr) {
    input.arrivals.push_back({*job, now_.taken});
    with.jobs.insert(with.jobs.begin(), *job);
  }
  for (sim::RunningAtStart& holder : input.holders) {
    if (holder.ends >= kForever) continue;
    const double left = seconds_left(now_, holder.job, models_.forecasts(), now_.taken);
    holder.ends =
        to_limits ? holder.job.end_limit : now_.taken + static_cast<Seconds>(std::ceil(left));
  }
  const RunTimes times(with, models_, config_);
  sim::SimulationBounds bounds;
  bounds.max_rounds = kMaxWhatIfRounds;
  bounds.max_decisions = kMaxWhatIfDecisions;
  if (to_limits && job != nullptr) bounds.until_start = job->key;
  return sim::simulate(
      input, models_, config_,
      [&](const Job& one, const Start& start) {
        return to_limits ? one.time_limit : times.expected(one, start);
      },
      bounds);
}

WhatIfOutcome WhatIf::of(const Job& asked) const {
  Job job = asked;
  job.key.id = kLastId;
  WhatIfOutcome out;
  std::map<JobKey, Seconds> starts;
  const sim::SimulationOutcome expected = play(&job, false);
  for (const sim::CompletedRun& run : expected.runs) {
    if (run.start >= kForever) continue;
    starts.emplace(run.job, run.start);
    if (run.job == job.key) note_run(job, run, out);
  }
  for (const auto& [other, before] : alone_) {
    const auto with = starts.find(other);
    if (with == starts.end()) {
      // Without a bound, a job that the simulation did not reach may still start.
      if (expected.complete || before < expected.until) ++out.displaced;
    } else if (with->second > before) {
      ++out.delayed;
      out.delay = add_seconds(out.delay, with->second - before);
    }
  }
  for (const sim::CompletedRun& run : play(&job, true).runs)
    if (run.job == job.key && run.start < kForever) out.latest = std::max(run.start, out.start);
  return out;
}

void WhatIf::note_run(const Job& job, const sim::CompletedRun& run, WhatIfOutcome& out) const {
  Snapshot with = now_;
  with.jobs.insert(with.jobs.begin(), job);
  out.start = run.start;
  out.told = RunTimes(with, models_, config_).told(job, run.gpu_type, run.shares).has_value();
  const Seconds end = out.told ? run.end : add_seconds(run.start, job.time_limit);
  out.end = end < kForever ? end : 0;
  out.gpu_type = run.gpu_type;
  out.gpus = run.gpus;
  if (out.end > 0) out.gpu_hours = run.gpus * static_cast<double>(out.end - out.start) / 3600;
  for (const NodeShare& share : run.shares) out.nodes.push_back(now_.nodes[share.node].name);
}

}  // namespace rubato
