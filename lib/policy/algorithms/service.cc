// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/service.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "lib/policy/algorithms/forecast.h"
#include "lib/policy/algorithms/job_forecast.h"
#include "lib/policy/algorithms/levels.h"
#include "lib/policy/algorithms/overrun.h"
#include "lib/policy/algorithms/stated_work.h"

namespace rubato {
namespace {

std::set<std::string> gpu_types(const Snapshot& snapshot) {
  std::set<std::string> types;
  for (const Node& node : snapshot.nodes) {
    for (const GpuGroup& group : node.gpus) types.insert(group.type);
  }
  return types;
}

double fastest_of(const std::set<std::string>& types, const Models& models) {
  double fastest = 0;
  for (const std::string& type : types) fastest = std::max(fastest, models.speed(type));
  return fastest > 0 ? fastest : 1;
}

// GPU-seconds a second, in GPUs of the fastest type.
double power(const Job& job, const Models& models, double fastest) {
  double sum = 0;
  for (const NodeShare& share : job.allocation) {
    for (const GpuCount& gpus : share.gpus) sum += gpus.count * models.speed(gpus.type) / fastest;
  }
  return sum;
}

Service remembered(const Snapshot& snapshot, const Job& job) {
  const Service* const known = service_of(snapshot.memory, job.key);
  if (known != nullptr) return *known;
  Service service;
  service.job = job.key;
  return service;
}

// Jobs that are not to be seen: ended, or requeued and not yet eligible again. They are kept for a
// while, since nobody can tell which.
std::vector<Service> gone(const Snapshot& snapshot, const std::map<JobKey, Service>& seen,
                          Seconds now) {
  std::set<JobId> ids;
  for (const auto& [key, unused] : seen) ids.insert(key.id);
  std::vector<Service> kept;
  for (const Service& service : snapshot.memory.service) {
    const bool recent = service.attained > 0 && now - service.updated < kRequeueTime;
    if (recent && !ids.contains(service.job.id)) kept.push_back(service);
  }
  return kept;
}

void run(Service& service, Seconds from, Seconds to, double power) {
  const Seconds seconds = std::max<Seconds>(to - from, 0);
  service.attained += static_cast<double>(seconds) * power;
  service.since_promotion += static_cast<double>(seconds) * power;
  service.executed += seconds;
}

void bring_forward(Service& service, const Job& job, double power, Seconds now) {
  const bool runs = job.state == JobState::kRunning;
  if (!runs) end_run(service, now);
  if (runs) run(service, std::max(service.updated, job.start), now, power);
  // Never later than now: a job with --begin does not wait yet.
  service.waiting_since = runs ? now : std::max(service.waiting_since, std::min(job.eligible, now));
  service.held = runs ? power : 0;
  service.updated = now;
}

int gpus_of(const Job& job) {
  return std::max(job.request.gpus_on(std::max(job.request.min_nodes, 1)), 1);
}

// GPU-seconds that so much work takes on the type it is fastest on; empty when that cannot be told.
std::optional<double> by_profile(const RoundInput& input, const Job& job, double left,
                                 const std::set<std::string>& types) {
  const std::optional<FastestType> fastest = fastest_type(input, job, types);
  if (!fastest) return std::nullopt;
  const double start = input.models.forecasts().start_seconds(job.key);
  return (left / fastest->goodput + start) * gpus_of(job);
}

double at_time_limit(const Job& job) {
  return static_cast<double>(std::max<Seconds>(job.time_limit, 1)) * gpus_of(job);
}

// `power` is what it holds now, in GPUs of the fastest type.
std::optional<double> remaining(const RoundInput& input, const Job& job,
                                const std::set<std::string>& types, double power) {
  const std::optional<double> left = work_left(input.snapshot, job);
  if (!left) return std::nullopt;
  const std::optional<double> known = by_profile(input, job, *left, types);
  if (known || job.state != JobState::kRunning) return known;
  return seconds_left(input.snapshot, job, input.models.forecasts(), input.now) * power;
}

}  // namespace

void end_run(Service& service, Seconds ended) {
  if (service.held > 0) run(service, service.updated, ended, service.held);
  service.held = 0;
}

std::vector<Service> update_service(const Snapshot& snapshot, const Models& models,
                                    const Config& config, Seconds now) {
  const RoundInput input{snapshot, models, config, now};
  const std::set<std::string> types = gpu_types(snapshot);
  const double fastest = fastest_of(types, models);
  const StatedWork stated(input);
  std::map<JobKey, Service> services;
  std::vector<LevelInput> inputs;
  for (const Job& job : snapshot.jobs) {
    if (!job.managed || !job.request.wants_gpus()) continue;
    if (!services.emplace(job.key, remembered(snapshot, job)).second) continue;
    Service& service = services[job.key];
    const double held = power(job, models, fastest);
    bring_forward(service, job, held, now);
    const ProfileName profile = profile_of(job, config);
    std::optional<double> left = remaining(input, job, types, held);
    const bool known_speed = left && fastest_type(input, job, types);
    service.predictable =
        left && (config.off(Mechanism::kPredictability)
                     ? known_speed
                     : predictability(snapshot, job, profile, known_speed).predictable);
    const bool overran = past_overrun(input, job) != nullptr;
    service.believed = stated.counts(job);
    if (overran || !service.believed) service.predictable = false;
    if (!service.predictable) left.reset();
    if (overran) left = at_time_limit(job);
    inputs.push_back({.job = job.key,
                      .attained = service.since_promotion,
                      .remaining = left,
                      .waited = std::max<Seconds>(now - service.waiting_since, 0),
                      .executed = service.executed,
                      .level = service.level,
                      .exempt = job.priority_set});
  }
  std::vector<Service> result = gone(snapshot, services, now);
  result.reserve(result.size() + services.size());
  for (const JobLevel& level : levels(inputs)) {
    Service& service = services[level.job];
    service.level = level.level;
    service.level_unpredictable = level.by_service;
    if (level.promoted) {
      service.since_promotion = 0;
      service.executed = 0;
      service.waiting_since = now;
    }
    result.push_back(service);
  }
  std::sort(result.begin(), result.end(),
            [](const Service& a, const Service& b) { return a.job < b.job; });
  return result;
}

}  // namespace rubato
