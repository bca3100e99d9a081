// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/type_choice.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>
#include <utility>

#include "lib/policy/algorithms/assign.h"
#include "lib/policy/algorithms/job_forecast.h"
#include "lib/policy/algorithms/overrun.h"
#include "lib/policy/algorithms/size.h"
#include "lib/policy/algorithms/type_chooser.h"

namespace rubato {
namespace {

// A type that is not known well counts as faster by this share of its spread where it is free.
constexpr double kOptimism = 0.5;
bool size_refused(const Memory& memory, const JobKey& job) {
  const JobMemory* const found = memory_of(memory, job);
  return found != nullptr && found->refusal.starts_with(kRefusedSize);
}

}  // namespace

void TypeChooser::run() {
  if (input_.config.off(Mechanism::kForecast)) return;
  for (PendingEntry& entry : queue_.entries) {
    if (free_to_choose(entry)) add(entry);
  }
  if (candidates_.empty()) return;
  if (std::any_of(candidates_.begin(), candidates_.end(),
                  [](const MatchCandidate& s) { return s.known; })) {
    match_all();
  }
  for (MatchCandidate& candidate : candidates_) finalise(candidate);
}

bool TypeChooser::free_to_choose(const PendingEntry& entry) {
  const Job& job = *entry.job;
  // A type in the request binds the type, not the size.
  const bool sized = job.hints && sizes_to_try(job).size() > 1;
  return job.managed && !job.het && entry.demand.wants_gpus() &&
         (job.request.gpu_type.empty() || sized) && entry.gpus == 0 && !entry.on_cpus;
}

void TypeChooser::add(PendingEntry& entry) {
  const Job& job = *entry.job;
  MatchCandidate candidate;
  candidate.entry = &entry;
  candidate.gpus = static_cast<int>(std::max<std::int64_t>(entry.demand.total(), 1));
  candidate.group.assign(types_, -1);
  accept(entry, candidate);
  candidate.choice.speed = forecasts_.speeds;
  if (job.hints && !job.hints->job_type.empty() && input_.models.forecasts().measured()) {
    forecast(job, candidate);
  }
  candidate.start_seconds = input_.models.forecasts().start_seconds(job.key);
  // Not only believed work: the size that a job takes changes no order.
  if (past_overrun(input_, job) == nullptr) candidate.left = work_left(input_.snapshot, job);
  candidate.sized = !size_refused(input_.snapshot.memory, job.key);
  candidates_.push_back(std::move(candidate));
}

void TypeChooser::accept(const PendingEntry& entry, MatchCandidate& candidate) {
  const Job& job = *entry.job;
  const bool any = !job.hints || job.hints->gpu_types.empty();
  candidate.choice.bound = !any;
  const std::vector<bool>& fits = empty_fit_.types(*entry.later, job.request);
  for (const TypeId type : indices<TypeId>(types_)) {
    const std::string& bound = job.request.gpu_type;
    if (!fits[type] || (!bound.empty() && bound != capacity_.types()[type])) continue;
    if (any) {
      candidate.group[type] = 0;
      continue;
    }
    const std::string& name = capacity_.types()[type];
    const GpuTypes& groups = job.hints->gpu_types;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (std::find(groups[g].begin(), groups[g].end(), name) == groups[g].end()) continue;
      candidate.group[type] = static_cast<int>(g);
      break;
    }
  }
}

void TypeChooser::forecast(const Job& job, MatchCandidate& candidate) {
  for (const TypeId type : indices<TypeId>(types_)) {
    const Forecast f = forecast_for(input_, job, capacity_.types()[type], candidate.gpus);
    candidate.known = candidate.known || f.known_profile;
    candidate.choice.speed[type] = hoped(f, type);
    candidate.choice.forecasts.push_back(f);
  }
}

double TypeChooser::hoped(const Forecast& f, TypeId type) const {
  // It does not fit there: slower than all, and still a number above 0.
  if (!f.feasible) return std::exp(f.log_throughput) * f.efficiency * 1e-6;
  const bool hope = f.known_profile && free_[type] && f.stddev > 0;
  if (!hope) return f.goodput();
  return f.goodput() * std::exp(kOptimism * std::min(f.stddev, 1.0));
}

std::vector<bool> TypeChooser::free_types() const {
  std::vector<bool> free(types_, false);
  for (const NodeIndex node : indices<NodeIndex>(capacity_.node_count())) {
    if (!input_.snapshot.nodes[node].usable) continue;
    for (const TypeId type : indices<TypeId>(types_)) {
      if (free[type] || !capacity_.has_type(node, type)) continue;
      free[type] = capacity_.room(node, type, input_.now, input_.now + 1).gpus > 0;
    }
  }
  return free;
}

bool TypeChooser::patient(const MatchCandidate& candidate) const {
  const Config& config = input_.config;
  const Seconds waited = input_.waited(*candidate.entry->job);
  if (config.starvation_bound > 0 && waited >= config.starvation_bound / 2) return false;
  return candidate.known || waited < config.reserve_after;
}

void TypeChooser::finalise(MatchCandidate& candidate) {
  TypeChoice& choice = candidate.choice;
  // As any job: the types by speed.
  if (!candidate.known && !choice.bound && !candidate.matched()) return;
  for (const TypeId type : indices<TypeId>(types_)) {
    if (candidate.group[type] >= 0) choice.order.push_back(type);
  }
  const bool hinted_order = choice.bound && candidate.entry->job->hints->gpu_types.size() > 1;
  if (candidate.matched()) score_configurations(candidate, !hinted_order && patient(candidate));
  std::stable_sort(choice.order.begin(), choice.order.end(), [&](TypeId a, TypeId b) {
    const auto key = [&](TypeId type) {
      return std::tuple(candidate.group[type], -choice.speed[type], type);
    };
    return key(a) < key(b);
  });
  if (hinted_order) {
    for (std::size_t i = 0; i < choice.order.size(); ++i) {
      choice.speed[choice.order[i]] = static_cast<double>(choice.order.size() - i);
    }
  }
  queue_.choices.push_back(std::make_unique<const TypeChoice>(std::move(choice)));
  candidate.entry->types = queue_.choices.back().get();
}

void choose_types(const RoundInput& input, const Forecasts& forecasts, const Capacity& capacity,
                  PendingQueue& queue) {
  TypeChooser(input, forecasts, capacity, queue).run();
}

}  // namespace rubato
