// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/need.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "lib/base/statistics.h"
#include "lib/policy/algorithms/forecast.h"
#include "lib/policy/algorithms/job_forecast.h"
#include "lib/policy/algorithms/overrun.h"

namespace rubato {
namespace {

// Forecasts before a start are often wrong by a factor of two; jobs that differ by less keep
// Slurm's order.
constexpr double kClassFactor = 2;

int gpus_of(const Job& job) {
  return std::max(job.request.gpus_on(std::max(job.request.min_nodes, 1)), 1);
}

std::set<std::string> gpu_types(const Snapshot& snapshot) {
  std::set<std::string> types;
  for (const Node& node : snapshot.nodes) {
    for (const GpuGroup& group : node.gpus) types.insert(group.type);
  }
  return types;
}

bool predictable(const std::vector<Service>& service, const JobKey& job) {
  const Service* const found = service_of(service, job);
  return found != nullptr && found->predictable;
}

// Run time at its own size on the type it is fastest on; empty when that cannot be told.
std::optional<double> own_seconds(const RoundInput& input, const Job& job,
                                  const std::set<std::string>& types) {
  const std::optional<double> left = work_left(input.snapshot, job);
  if (!left) return std::nullopt;
  const std::optional<FastestType> fastest = fastest_type(input, job, types);
  if (!fastest || fastest->unproven) return std::nullopt;
  return *left / fastest->goodput + input.models.forecasts().start_seconds(job.key);
}

double limit_of(const Job& job) {
  return static_cast<double>(std::max<Seconds>(job.time_limit, 1));
}

// Run time of a job that cannot tell its own, by those that can.
class UsualSeconds {
 public:
  void add(const Job& job, double seconds) {
    parts_.push_back(seconds / limit_of(job));
    shortest_ = std::min(shortest_, seconds);
    longest_ = std::max(longest_, seconds);
  }
  [[nodiscard]] bool empty() const { return parts_.empty(); }
  // Call once all were added.
  void settle() { part_ = upper_median(parts_); }
  // Limits may be endless: no job counts as longer than the longest that is known.
  [[nodiscard]] double of(const Job& job) const {
    return std::clamp(part_ * limit_of(job), shortest_, longest_);
  }

 private:
  std::vector<double> parts_;  ///< of its time limit that each takes
  double part_ = 0;
  double shortest_ = std::numeric_limits<double>::infinity();
  double longest_ = 0;
};

int class_of(double gpu_seconds) {
  return static_cast<int>(std::floor(std::log(gpu_seconds) / std::log(kClassFactor)));
}

}  // namespace

std::vector<JobNeed> expected_needs(const Snapshot& snapshot, const Models& models,
                                    const Config& config, const std::vector<Service>& service,
                                    Seconds now) {
  if (config.off(Mechanism::kNeeds)) return {};
  std::vector<const Job*> jobs;
  for (const Job& job : snapshot.jobs) {
    const bool pending = job.state == JobState::kPending;
    if (pending && job.managed && job.request.wants_gpus()) jobs.push_back(&job);
  }
  // A job may have one entry per partition; all of them are equal.
  std::sort(jobs.begin(), jobs.end(), [](const Job* a, const Job* b) {
    return std::tie(a->key, a->rank, a->partition) < std::tie(b->key, b->rank, b->partition);
  });
  const auto last = std::unique(jobs.begin(), jobs.end(),
                                [](const Job* a, const Job* b) { return a->key == b->key; });
  jobs.erase(last, jobs.end());

  const std::set<std::string> types = gpu_types(snapshot);
  std::vector<std::optional<double>> own;
  UsualSeconds usual;
  own.reserve(jobs.size());
  for (const Job* job : jobs) {
    own.push_back(predictable(service, job->key)
                      ? own_seconds({snapshot, models, config, now}, *job, types)
                      : std::nullopt);
    if (own.back()) usual.add(*job, *own.back());
  }
  if (usual.empty()) return {};
  usual.settle();

  std::vector<JobNeed> needs;
  needs.reserve(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Job& job = *jobs[i];
    const UserOverrun* const past = past_overrun({snapshot, models, config, now}, job);
    const double expected = own[i] ? *own[i] : past != nullptr ? limit_of(job) : usual.of(job);
    const double seconds = std::max(std::min(expected, limit_of(job)), 1.0);
    const Seconds waited = job.eligible > 0 ? std::max<Seconds>(now - job.eligible, 0) : 0;
    JobNeed need{.job = job.key, .told = own[i].has_value()};
    if (past != nullptr) need.overran = past->job;
    need.gpu_seconds = seconds * gpus_of(job);
    need.response = 1 + static_cast<double>(waited) / seconds;
    need.size_class = class_of(need.gpu_seconds / need.response);
    needs.push_back(need);
  }
  return needs;
}

const JobNeed* need_of(const std::vector<JobNeed>& needs, const JobKey& job) {
  const auto at =
      std::lower_bound(needs.begin(), needs.end(), job,
                       [](const JobNeed& need, const JobKey& key) { return need.job < key; });
  return at != needs.end() && at->job == job ? &*at : nullptr;
}

}  // namespace rubato
