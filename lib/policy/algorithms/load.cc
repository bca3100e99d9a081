// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/load.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace rubato {
namespace {

// Moments of a run at which is asked whether GPUs are free.
constexpr int kMoments = 8;

double run_time(const TypeLoad& load) {
  return load.told_gpus > 0 ? load.told_gpu_seconds / load.told_gpus : 0;
}

double span_of(const TypeLoad& load) { return kLoadSpan * run_time(load); }

// Nothing is forgotten while no run time is known.
double kept(double seconds, double span) { return span > 0 ? std::exp(-seconds / span) : 1; }

void bring_forward(TypeLoad& load, Seconds now) {
  const auto seconds = static_cast<double>(std::max<Seconds>(now - load.updated, 0));
  const double span = span_of(load);
  const double share = kept(seconds, span);
  load.seconds = load.seconds * share + (span > 0 ? span * (1 - share) : seconds);
  for (double* sum : {&load.jobs, &load.gpus, &load.told_gpus, &load.told_gpu_seconds}) {
    *sum *= share;
  }
  load.updated = std::max(load.updated, now);
}

bool of_type(const TypeLoad& load, const std::string& gpu_type) { return load.gpu_type < gpu_type; }

TypeLoad& load_for(std::vector<TypeLoad>& loads, const LoadArrival& first) {
  auto place = std::lower_bound(loads.begin(), loads.end(), first.gpu_type, of_type);
  if (place == loads.end() || place->gpu_type != first.gpu_type) {
    place = loads.insert(place, TypeLoad{first.gpu_type, first.since});
  }
  return *place;
}

// Phi of the standard normal distribution.
double normal(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

}  // namespace

std::vector<TypeLoad> update_loads(std::vector<TypeLoad> loads, std::vector<LoadArrival> arrivals,
                                   Seconds now) {
  std::sort(arrivals.begin(), arrivals.end(), [](const LoadArrival& a, const LoadArrival& b) {
    const auto key = [](const LoadArrival& one) {
      return std::tie(one.since, one.gpu_type, one.jobs, one.gpus, one.told_gpus,
                      one.told_gpu_seconds);
    };
    return key(a) < key(b);
  });
  for (const LoadArrival& arrival : arrivals) (void)load_for(loads, arrival);
  for (TypeLoad& load : loads) bring_forward(load, now);
  for (const LoadArrival& arrival : arrivals) {
    TypeLoad& load = load_for(loads, arrival);
    load.jobs += arrival.jobs;
    load.gpus += arrival.gpus;
    load.told_gpus += arrival.told_gpus;
    load.told_gpu_seconds += arrival.told_gpu_seconds;
  }
  return loads;
}

PoolLoad load_of(const std::vector<TypeLoad>& loads, const std::string& gpu_type, int gpus,
                 Seconds now) {
  const auto found = std::lower_bound(loads.begin(), loads.end(), gpu_type, of_type);
  if (found == loads.end() || found->gpu_type != gpu_type || gpus <= 0) return {};
  TypeLoad load = *found;
  bring_forward(load, now);
  PoolLoad pool;
  pool.seconds = run_time(load);
  if (!(load.seconds > 0 && load.jobs > 0 && load.gpus > 0 && pool.seconds > 0)) return {};
  pool.jobs = load.jobs / load.seconds;
  pool.gpus = load.gpus / load.jobs;
  pool.need = pool.gpus * pool.seconds;
  pool.load = pool.jobs * pool.need / gpus;
  pool.error = pool.load * std::sqrt(2 / load.jobs);
  pool.span = span_of(load);
  return pool;
}

void PoolState::add_held(double held_gpus, double seconds) {
  if (held_gpus > 0 && seconds > 0) held_.push_back({seconds, held_gpus});
}

void PoolState::finish_holds() {
  std::sort(held_.begin(), held_.end(), [](const Held& a, const Held& b) {
    return std::tie(a.seconds, a.gpus) < std::tie(b.seconds, b.gpus);
  });
  for (auto one = held_.rbegin(); one != held_.rend(); ++one) {
    one->later = held_gpus_;
    held_gpus_ += one->gpus;
    busy_ += one->gpus * one->seconds;
  }
}

double PoolState::held_after(double seconds) const {
  const auto after =
      std::upper_bound(held_.begin(), held_.end(), seconds,
                       [](double time, const Held& one) { return time < one.seconds; });
  return after == held_.begin() ? held_gpus_ : std::prev(after)->later;
}

double PoolState::seconds_until_free(double wanted) const {
  if (gpus - held_gpus_ >= wanted || held_.empty()) return 0;
  const auto enough = std::find_if(held_.begin(), held_.end(),
                                   [&](const Held& one) { return gpus - one.later >= wanted; });
  return enough != held_.end() ? enough->seconds : held_.back().seconds;
}

double chance_of_wait(const PoolState& pool, const WaitingJobs& others, double gpus,
                      double seconds) {
  const PoolLoad& load = pool.load;
  if (!(load.jobs > 0 && seconds > 0)) return 0;
  const double room = pool.gpus - gpus - load.gpus + 0.5;
  double sum = 0;
  for (int i = 0; i < kMoments; ++i) {
    const double time = seconds * (i + 0.5) / kMoments;
    // lambda E[min(S, t)] jobs, with S taken as exponential.
    const double come = load.load * pool.gpus * -std::expm1(-time / load.seconds);
    const double wanted = pool.held_after(time) + others.gpus + come;
    sum += 1 - normal((room - wanted) / std::sqrt(load.gpus * std::max(come, load.gpus)));
  }
  return sum / kMoments;
}

double delayed_to_come(const PoolState& pool, const WaitingJobs& others, double gpus,
                       double seconds) {
  const PoolLoad& load = pool.load;
  if (!(load.jobs > 0 && pool.gpus > 0)) return 0;
  const double ahead = (others.gpu_seconds + load.need + gpus * seconds / 2) / pool.gpus;
  double until_empty = load.span;
  if (load.load < 1) until_empty = std::min(ahead / (1 - load.load), load.span);
  return chance_of_wait(pool, others, gpus, seconds) * load.jobs * until_empty;
}

}  // namespace rubato
