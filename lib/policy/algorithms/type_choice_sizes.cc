// SPDX-License-Identifier: GPL-2.0-or-later
// What each type and size costs a job, and at which sizes it may start.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "lib/core/resize_request.h"
#include "lib/policy/algorithms/assign.h"
#include "lib/policy/algorithms/growth_cap.h"
#include "lib/policy/algorithms/guarantee.h"
#include "lib/policy/algorithms/job_forecast.h"
#include "lib/policy/algorithms/size.h"
#include "lib/policy/algorithms/type_chooser.h"

namespace rubato {
namespace {

// GPUs come free one after the other: until some do it takes this share of the time until all do.
constexpr double kWaitShare = 0.25;
// A smaller size must fit into the time limit even if the rate is two spreads below its forecast.
constexpr double kSureStddevs = 2;
// And only where the speed of the GPU type for its job type is known as well as that: guesses from
// other types are at times off by more than any number of their spreads.
constexpr double kSureStddev = 0.35;
// A job keeps a smaller size or a slower type until it ends, long after the GPUs that suit it have
// come free. So it takes no longer there than the wait for these and this many times its run on
// them (docs/results/sizing.md).
constexpr double kMostSlower = 2;
// A size without measurements is tried up to so many times the largest that was: what a job
// wastes if the forecast is wrong has a bound, and the next forecast is better.
constexpr int kStep = 2;

}  // namespace

void TypeChooser::score_configurations(MatchCandidate& candidate, bool patient) {
  TypeChoice& choice = candidate.choice;
  std::vector<double> costs(types_, 0);
  for (const TypeId type : choice.order) {
    costs[type] = own_cost(candidate, type);
  }
  const double most = patient ? costs[choice.matched] : kForbidden;
  // Less than it asks for may cost more, if it saves a wait.
  const PoolState& pool = lines_->pool(choice.matched);
  choice.load = pool.load.load;
  choice.behind = lines_->behind(candidate.queue_position, choice.matched);
  choice.delayed = lines_->delayed(candidate.queue_position, choice.matched, candidate.gpus,
                                   candidate.seconds_at(choice.speed[choice.matched]));
  choice.most = most + kWaitShare * pool.busy() / std::max(pool.gpus, 1);
  add_variants(candidate);
  add_cpus(candidate);
  const auto worse = [&](TypeId type) {
    return costs[type] > costs[choice.matched] && (patient || slower_type(candidate, type));
  };
  choice.waits_for_match = std::erase_if(choice.order, worse) > 0;
  for (const TypeId type : choice.order) choice.speed[type] = 1 / costs[type];
}

double TypeChooser::own_cost(const MatchCandidate& candidate, TypeId type) const {
  const double seconds = candidate.seconds_at(candidate.choice.speed[type]);
  return lines_->cost(candidate.queue_position, type, candidate.gpus, seconds);
}

double TypeChooser::cost(const MatchCandidate& candidate, TypeId type, int gpus,
                         double speed) const {
  const double seconds = candidate.seconds_at(speed);
  const double own = candidate.seconds_at(candidate.choice.speed[type]);
  return lines_->cost(candidate.queue_position, type, gpus, seconds) +
         lines_->cost_to_come(candidate.queue_position, type, gpus, seconds) -
         lines_->cost_to_come(candidate.queue_position, type, candidate.gpus, own);
}

double TypeChooser::hoped(const MatchCandidate& candidate, const Forecast& f, TypeId type,
                          int gpus) const {
  const double throughput = hoped(f, type);
  if (!f.feasible) return throughput;
  const double wait =
      lines_->chance(candidate.queue_position, type, gpus, candidate.seconds_at(f.goodput()));
  return std::pow(f.goodput(), wait) * std::pow(throughput, 1 - wait);
}

void TypeChooser::add_variants(MatchCandidate& candidate) const {
  const Job& job = *candidate.entry->job;
  if (!candidate.known || !candidate.sized) return;
  const std::vector<int> sizes = sizes_to_try(job);
  if (sizes.size() < 2) return;
  std::vector<StartConfiguration>& configurations = candidate.choice.configurations;
  std::vector<std::string> types;
  for (const TypeId type : candidate.choice.order) types.push_back(capacity_.types()[type]);
  candidate.choice.promised = promised_goodput(input_, job, types);
  const bool capped = input_.config.mode == Mode::kElastic && GrowthCaps(input_).of(job.qos);
  for (const TypeId type : candidate.choice.order) {
    int reach = kStep * candidate.gpus;
    for (const int gpus : sizes) {
      const Forecast f = forecast_for(input_, job, capacity_.types()[type], gpus);
      if (f.samples > 0) reach = std::max(reach, kStep * gpus);
      SizeTrial trial{type, gpus, SizeObstacle::kNone, f.throughput(), 0};
      const bool tried = f.samples > 0 || gpus <= candidate.gpus;
      if (capped && gpus > candidate.gpus) {
        trial.obstacle = SizeObstacle::kGrowthCap;
      } else if (!tried && gpus > reach) {
        trial.obstacle = SizeObstacle::kUnmeasured;
      } else if (!tried && !may_try(type)) {
        trial.obstacle = SizeObstacle::kLoad;
      } else if (!f.feasible && gpus != candidate.gpus) {
        trial.obstacle = SizeObstacle::kCost;
        trial.cost = kForbidden;
      } else {
        add_variant(candidate, f, trial);
      }
      candidate.choice.trials.push_back(trial);
    }
  }
  std::stable_sort(configurations.begin(), configurations.end(),
                   [&](const StartConfiguration& a, const StartConfiguration& b) {
                     return std::tuple(candidate.group[a.type], a.cost) <
                            std::tuple(candidate.group[b.type], b.cost);
                   });
}

bool TypeChooser::may_try(TypeId type) const {
  const PoolLoad& load = lines_->pool(type).load;
  return load.load + kSureStddevs * load.error < 1;
}

// The work of the job is told.
bool TypeChooser::surely_ends(const MatchCandidate& candidate, double goodput, double stddev) {
  const double surely = goodput * std::exp(-kSureStddevs * stddev);
  const double longest = candidate.start_seconds + *candidate.left / surely;
  return longest * kSmallerSlack <= static_cast<double>(candidate.entry->job->time_limit);
}

// Why a smaller size is not safe.
SizeObstacle TypeChooser::too_small(const MatchCandidate& candidate, const Forecast& f) const {
  const double promised = candidate.choice.promised;
  const bool guaranteed = is_guaranteed(input_.config, *candidate.entry->job);
  if (guaranteed && !(promised > 0 && f.goodput() >= promised)) return SizeObstacle::kGuarantee;
  if (!candidate.left) return SizeObstacle::kWorkUnknown;
  if (f.stddev > kSureStddev || unproven(f, input_.config)) return SizeObstacle::kUncertain;
  return surely_ends(candidate, f.goodput(), f.stddev) ? SizeObstacle::kNone
                                                       : SizeObstacle::kTimeLimit;
}

bool TypeChooser::slower_type(const MatchCandidate& candidate, TypeId type) const {
  const TypeChoice& choice = candidate.choice;
  const bool told = candidate.known && candidate.left && !choice.forecasts.empty();
  return told && type != choice.matched && too_slow(candidate, choice.forecasts[type]);
}

bool TypeChooser::too_slow(const MatchCandidate& candidate, const Forecast& f) const {
  const TypeId type = candidate.choice.matched;
  const double asked = candidate.seconds_at(candidate.choice.forecasts[type].goodput());
  const double wait = lines_->wait(candidate.queue_position, type, candidate.gpus);
  return candidate.seconds_at(f.goodput()) > wait + kMostSlower * asked;
}

// The speed on CPUs is that of the model of steps, which knows it from reports of CPU runs alone.
void TypeChooser::add_cpus(MatchCandidate& candidate) const {
  const Job& job = *candidate.entry->job;
  TypeChoice& choice = candidate.choice;
  const bool may = job.batch && job.hints && job.hints->device == Device::kAny &&
                   job.array_id == 0 && !is_guaranteed(input_.config, job);
  if (!may || input_.config.off(Mechanism::kCpus)) return;
  if (!candidate.known || !candidate.left || !candidate.sized) return;
  auto without = at_size(job, 0, "");
  if (!without) return;
  Resources at;
  at.nodes = std::max(without->request.min_nodes, 1);
  at.cores = std::max(without->request.cores, 1);
  const auto found = input_.models.forecasts().choice(job.key, spec_of(input_, job), at);
  if (!found || !found->feasible || !found->known_profile || !(found->goodput > 0)) return;
  if (found->stddev > kSureStddev) return;
  const double seconds = candidate.start_seconds + *candidate.left / found->goodput;
  if (!surely_ends(candidate, found->goodput, found->stddev)) return;
  choice.seconds_on_gpus = lines_->wait(candidate.queue_position, choice.matched, candidate.gpus) +
                           candidate.seconds_at(choice.forecasts[choice.matched].goodput());
  if (seconds > choice.seconds_on_gpus) return;
  StartConfiguration variant{kNoGpu, 0, std::move(*without)};
  variant.demand = Demand(size_of(variant.job));
  variant.throughput = found->throughput;
  variant.cost = seconds;
  choice.on_cpus = std::move(variant);
}

void TypeChooser::add_variant(MatchCandidate& candidate, const Forecast& f,
                              SizeTrial& trial) const {
  const Job& job = *candidate.entry->job;
  const int gpus = trial.gpus;
  if (gpus < candidate.gpus) trial.obstacle = too_small(candidate, f);
  if (trial.obstacle != SizeObstacle::kNone) return;
  // The size it asks for costs what it did in the choice of the type, so it stays open there.
  trial.cost = gpus == candidate.gpus
                   ? own_cost(candidate, trial.type)
                   : cost(candidate, trial.type, gpus, hoped(candidate, f, trial.type, gpus));
  if (trial.cost > candidate.choice.most) {
    trial.obstacle = SizeObstacle::kCost;
    return;
  }
  const bool cheap = trial.type == candidate.choice.matched ||
                     trial.cost <= own_cost(candidate, candidate.choice.matched);
  const bool bound = gpus < candidate.gpus || (candidate.left && !cheap);
  if (bound && too_slow(candidate, f)) {
    trial.obstacle = SizeObstacle::kTooSlow;
    return;
  }
  auto other = at_size(job, gpus, capacity_.types()[trial.type]);
  if (!other) {
    trial.obstacle = SizeObstacle::kShape;
    return;
  }
  StartConfiguration variant{trial.type, gpus == candidate.gpus ? 0 : gpus, std::move(*other)};
  variant.demand = Demand(size_of(variant.job));
  variant.throughput = f.throughput();
  variant.cost = trial.cost;
  candidate.choice.configurations.push_back(std::move(variant));
}

}  // namespace rubato
