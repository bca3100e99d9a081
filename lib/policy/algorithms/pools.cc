// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/pools.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "lib/core/resize_request.h"
#include "lib/policy/algorithms/forecast.h"
#include "lib/policy/algorithms/job_forecast.h"
#include "lib/policy/algorithms/overrun.h"

namespace rubato {
namespace {

// By TypeId. A node on which a job is ending counts: those who wait for its type can use it soon.
std::vector<int> gpus_of_types(const RoundInput& input, const Capacity& capacity) {
  std::vector<int> gpus(capacity.types().size(), 0);
  for (const NodeIndex node : indices<NodeIndex>(capacity.node_count())) {
    if (!input.snapshot.nodes[node].in_service()) continue;
    for (const TypeId type : indices<TypeId>(gpus)) {
      if (capacity.has_type(node, type)) gpus[type] += capacity.total(node, type).gpus;
    }
  }
  return gpus;
}

// A job with one entry per partition counts once.
std::map<JobKey, TypeId> matched_types(const PendingQueue& queue) {
  std::map<JobKey, TypeId> matched;
  for (const PendingEntry& entry : queue.entries) {
    if (entry.types != nullptr && entry.types->matched.valid())
      matched.try_emplace(entry.job->key, entry.types->matched);
  }
  return matched;
}

// What is done included.
std::optional<double> all_work(const Snapshot& snapshot, const Job& job) {
  const std::optional<double> left = work_left(snapshot, job);
  const Progress* const progress = progress_of(snapshot.memory, job.key);
  return left && progress != nullptr ? std::optional(*left + progress->done()) : left;
}

class Counter {
 public:
  Counter(const RoundInput& input, const PendingQueue& queue, const Capacity& capacity)
      : input_(input),
        capacity_(capacity),
        matched_(matched_types(queue)),
        pools_(gpus_of_types(input, capacity)) {
    for (const int gpus : pools_) all_ += gpus;
  }

  void add(const Job& job, Service& service) {
    const Service* const before = service_of(input_.snapshot.memory, job.key);
    const bool fresh = before == nullptr && job.restarts == 0;
    service.counted = before != nullptr && before->counted;
    if (service.counted || (!fresh && before == nullptr)) return;
    const TypeId type = type_of(job);
    const int gpus = std::max(static_cast<int>(requested_gpus(job)), 1);
    const std::optional<double> seconds =
        service.believed ? seconds_on(job, type, gpus) : std::nullopt;
    service.counted = seconds.has_value();
    if (!fresh && !seconds) return;
    LoadArrival arrival;
    arrival.since = std::min(job.eligible > 0 ? job.eligible : job.key.submit, input_.now);
    if (fresh) arrival.jobs = 1;
    if (fresh) arrival.gpus = gpus;
    if (seconds) arrival.told_gpus = gpus;
    if (seconds) arrival.told_gpu_seconds = *seconds * gpus;
    stddev(arrival, type);
  }

  std::vector<TypeLoad> take() {
    return update_loads(input_.snapshot.memory.loads, std::move(arrivals_), input_.now);
  }

 private:
  // kNoGpu: any.
  [[nodiscard]] TypeId type_of(const Job& job) const {
    for (const NodeShare& share : job.allocation) {
      for (const GpuCount& gpus : share.gpus) return capacity_.type_id(gpus.type);
    }
    if (!job.request.gpu_type.empty()) return capacity_.type_id(job.request.gpu_type);
    const auto found = matched_.find(job.key);
    if (found != matched_.end()) return found->second;
    return pools_.size() == 1 ? TypeId{0} : kNoGpu;
  }

  [[nodiscard]] std::optional<double> seconds_on(const Job& job, TypeId type, int gpus) const {
    const std::optional<double> work = all_work(input_.snapshot, job);
    const bool named = job.hints && !job.hints->job_type.empty();
    const ThroughputForecasts& forecasts = input_.models.forecasts();
    if (!type.valid() || !work || !named || !forecasts.measured()) return std::nullopt;
    if (past_overrun(input_, job) != nullptr) return std::nullopt;
    const Forecast forecast = forecast_for(input_, job, capacity_.types()[type], gpus);
    if (!forecast.known_profile || !(forecast.goodput() > 0)) return std::nullopt;
    const auto limit = static_cast<double>(std::max<Seconds>(job.time_limit, 1));
    return std::min(*work / forecast.goodput() + forecasts.start_seconds(job.key), limit);
  }

  void stddev(const LoadArrival& arrival, TypeId type) {
    for (const TypeId other : indices<TypeId>(pools_)) {
      if (type.valid() && other != type) continue;
      if (all_ <= 0) continue;
      const double part = type.valid() ? 1 : static_cast<double>(pools_[other]) / all_;
      if (part <= 0) continue;
      LoadArrival one = arrival;
      one.gpu_type = capacity_.types()[other];
      for (double* sum : {&one.jobs, &one.gpus, &one.told_gpus, &one.told_gpu_seconds}) {
        *sum *= part;
      }
      arrivals_.push_back(std::move(one));
    }
  }

  const RoundInput& input_;
  const Capacity& capacity_;
  std::map<JobKey, TypeId> matched_;
  std::vector<int> pools_;  ///< GPUs by TypeId
  int all_ = 0;
  std::vector<LoadArrival> arrivals_;
};

}  // namespace

std::vector<PoolState> pools_of(const RoundInput& input, const Capacity& capacity) {
  const std::vector<int> gpus_there = gpus_of_types(input, capacity);
  std::vector<PoolState> pools(gpus_there.size());
  for (std::size_t type = 0; type < pools.size(); ++type) pools[type].gpus = gpus_there[type];
  for (const Job& job : input.snapshot.jobs) {
    if (job.state != JobState::kRunning) continue;
    const double seconds = seconds_left(input.snapshot, job, input.models.forecasts(), input.now);
    for (const NodeShare& share : job.allocation) {
      for (const GpuCount& gpus : share.gpus) {
        const TypeId type = capacity.type_id(gpus.type);
        if (type.valid()) pools[type].add_held(gpus.count, seconds);
      }
    }
  }
  for (const TypeId type : indices<TypeId>(pools)) {
    PoolState& pool = pools[type];
    pool.finish_holds();
    if (input.config.off(Mechanism::kLoad)) continue;
    pool.load = load_of(input.snapshot.memory.loads, capacity.types()[type], pool.gpus, input.now);
  }
  return pools;
}

QueuePosition TypeQueues::enqueue(TypeId type, double gpus, double seconds) {
  WaitingJobs& waiting = waiting_[type];
  const QueuePosition queue_position{type, waiting.jobs, gpus, gpus * seconds, waiting.gpu_seconds};
  ++waiting.jobs;
  waiting.gpus += queue_position.gpus;
  waiting.gpu_seconds += queue_position.gpu_seconds;
  return queue_position;
}

WaitingJobs TypeQueues::others(const QueuePosition& job, TypeId type) const {
  WaitingJobs others = waiting_[type];
  if (type != job.type) return others;
  --others.jobs;
  others.gpus = std::max(others.gpus - job.gpus, 0.0);
  others.gpu_seconds = std::max(others.gpu_seconds - job.gpu_seconds, 0.0);
  return others;
}

int TypeQueues::behind(const QueuePosition& job, TypeId type) const {
  return others(job, type).jobs - (type == job.type ? job.before : 0);
}

double TypeQueues::share(TypeId type, int gpus) const {
  return static_cast<double>(gpus) / std::max(pool(type).gpus, 1);
}

double TypeQueues::delayed(const QueuePosition& job, TypeId type, int gpus, double seconds) const {
  return behind(job, type) + delayed_to_come(pool(type), others(job, type), gpus, seconds);
}

double TypeQueues::cost(const QueuePosition& job, TypeId type, int gpus, double seconds) const {
  return seconds * (1 + behind(job, type) * share(type, gpus));
}

double TypeQueues::cost_to_come(const QueuePosition& job, TypeId type, int gpus,
                                double seconds) const {
  return seconds * share(type, gpus) *
         delayed_to_come(pool(type), others(job, type), gpus, seconds);
}

double TypeQueues::wait(const QueuePosition& job, TypeId type, int gpus) const {
  const PoolState& held = pool(type);
  const double before = type == job.type ? job.gpu_seconds_before : others(job, type).gpu_seconds;
  return held.seconds_until_free(gpus) + before / std::max(held.gpus, 1);
}

double TypeQueues::chance(const QueuePosition& job, TypeId type, int gpus, double seconds) const {
  return chance_of_wait(pool(type), others(job, type), gpus, seconds);
}

CountedArrivals count_arrivals(const RoundInput& input, const PendingQueue& queue,
                               const Capacity& capacity, std::vector<Service> service) {
  Counter counter(input, queue, capacity);
  std::map<JobKey, const Job*> jobs;
  for (const Job& job : input.snapshot.jobs) jobs.try_emplace(job.key, &job);
  for (Service& one : service) {
    const auto found = jobs.find(one.job);
    if (found != jobs.end()) counter.add(*found->second, one);
  }
  return {counter.take(), std::move(service)};
}

}  // namespace rubato
