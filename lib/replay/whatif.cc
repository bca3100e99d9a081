// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/replay/whatif.h"

#include <algorithm>
#include <cmath>
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

// Ids of the further tasks of arrays, above all that slurmctld gives (MaxJobId is 0x03ffffff).
constexpr JobId kFirstTaskId = 0x10000000;
// The new job comes behind all others of its priority.
constexpr JobId kLastId = 0x7fffffff;

// How long jobs run, as far as the models and the queue tell.
class RunTimes {
 public:
  RunTimes(const Snapshot& snapshot, const Models& models, const Config& config)
      : input_{snapshot, models, config, snapshot.taken} {
    const Capacity capacity(snapshot, snapshot.taken);
    needs_ = predict(input_, capacity.types()).needs;
  }

  // By the work that the job tells and its speed there; nullopt: not known.
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

// The tasks of an array that may start, as jobs of their own.
std::vector<Job> tasks_of(const Job& job, JobId& next) {
  std::vector<Job> tasks(static_cast<std::size_t>(std::max(1, job.tasks)), job);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (i > 0) tasks[i].key.id = next++;
    tasks[i].tasks = 1;
  }
  return tasks;
}

}  // namespace

WhatIf::WhatIf(const Snapshot& now, Models models, const Config& config)
    : models_(std::move(models)), config_(config), now_(now) {
  if (config_.mode == Mode::kObserve) config_.mode = Mode::kPlace;
  input_.cluster = now;
  input_.begin = now.taken;
  std::set<JobKey> seen;
  JobId next = kFirstTaskId;
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
  for (const sim::CompletedRun& run : play(nullptr, false).runs) alone_.emplace(run.job, run.start);
}

sim::SimulationOutcome WhatIf::play(const Job* job, bool to_limits) const {
  sim::SimulationInput input = input_;
  Snapshot with = now_;
  if (job != nullptr) {
    input.arrivals.push_back({*job, now_.taken});
    with.jobs.insert(with.jobs.begin(), *job);
  }
  for (sim::RunningAtStart& holder : input.holders) {
    const double left = seconds_left(now_, holder.job, models_.forecasts(), now_.taken);
    holder.ends =
        to_limits ? holder.job.end_limit : now_.taken + static_cast<Seconds>(std::ceil(left));
  }
  const RunTimes times(with, models_, config_);
  sim::SimulationBounds bounds;
  bounds.max_rounds = kMaxWhatIfRounds;
  if (to_limits && job != nullptr) bounds.until_start = job->key;
  return sim::simulate(
      input, models_, config_,
      [&](const Job& one, const Start& start) {
        return to_limits ? one.time_limit : times.expected(one, start);
      },
      bounds);
}

WhatIfOutcome WhatIf::of(const Job& asked) const {
  WhatIfOutcome out;
  Job job = asked;
  job.key.id = kLastId;
  Snapshot with = now_;
  with.jobs.insert(with.jobs.begin(), job);
  const RunTimes times(with, models_, config_);
  for (const sim::CompletedRun& run : play(&job, false).runs) {
    if (run.job != job.key) {
      const auto before = alone_.find(run.job);
      if (before == alone_.end() || run.start <= before->second) continue;
      ++out.delayed;
      out.delay += run.start - before->second;
      continue;
    }
    out.start = run.start;
    out.told = times.told(job, run.gpu_type, run.shares).has_value();
    out.end = out.told ? run.end : add_seconds(run.start, job.time_limit);
    out.gpu_type = run.gpu_type;
    out.gpus = run.gpus;
    out.gpu_hours = run.gpus * static_cast<double>(out.end - out.start) / 3600;
    for (const NodeShare& share : run.shares) out.nodes.push_back(now_.nodes[share.node].name);
  }
  for (const sim::CompletedRun& run : play(&job, true).runs)
    if (run.job == job.key && run.start < kForever) out.latest = run.start;
  return out;
}

}  // namespace rubato
