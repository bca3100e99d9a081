// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/type_choice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "lib/base/statistics.h"
#include "lib/core/resize_request.h"
#include "lib/policy/algorithms/assign.h"
#include "lib/policy/algorithms/forecast.h"
#include "lib/policy/algorithms/job_forecast.h"
#include "lib/policy/algorithms/match.h"
#include "lib/policy/algorithms/pools.h"
#include "lib/policy/algorithms/size.h"

namespace rubato {
namespace {

// For a job whose run time is unknown, when no other run time is known.
constexpr double kUsualSeconds = 3600;
// A type that is not known well counts as faster by this share of its spread where it is free.
constexpr double kOptimism = 0.5;
// GPUs come free one after the other: until some do it takes this share of the time until all do.
constexpr double kWaitShare = 0.25;
// A smaller size must fit into the time limit even if the rate is two spreads below its forecast,
// with this to spare for start and checkpoints.
constexpr double kSlack = 1.25;
constexpr double kSureStddevs = 2;
// And only where the speed of the GPU type for its job type is known as well as that: guesses from
// other types are at times off by more than any number of their spreads.
constexpr double kSureStddev = 0.35;
// A size without measurements is tried up to so many times the largest that was: what a job
// wastes if the forecast is wrong has a bound, and the next forecast is better.
constexpr int kStep = 2;
// How the refusal of a start at another size begins (plugin/actuate); such a job is planned as
// requested until it asks for something else.
constexpr const char* kRefusedSize = "another size:";

std::size_t at(int index) { return static_cast<std::size_t>(index); }

bool size_refused(const Memory& memory, const JobKey& job) {
  const JobMemory* const found = memory_of(memory, job);
  return found != nullptr && found->refusal.starts_with(kRefusedSize);
}

class TypeChooser {
 public:
  TypeChooser(const RoundInput& input, const Forecasts& forecasts, const Capacity& capacity,
              PendingQueue& queue)
      : input_(input),
        forecasts_(forecasts),
        capacity_(capacity),
        queue_(queue),
        types_(static_cast<int>(capacity.types().size())),
        free_(free_types()) {}

  void run() {
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

 private:
  struct MatchCandidate {
    PendingEntry* entry = nullptr;
    bool known = false;  ///< a forecast that rests on its own profile
    int gpus = 1;        ///< it asks for
    TypeChoice choice;
    std::vector<int> group;        ///< by TypeId: place of the type's group in the hint, -1: never
    std::optional<double> left;    ///< samples
    double work = 0;               ///< samples, a guess where `left` is empty
    QueuePosition queue_position;  ///< among those that wait
    bool sized = true;             ///< may start at another size

    [[nodiscard]] bool matched() const { return choice.matched >= 0; }
  };

  static bool free_to_choose(const PendingEntry& entry) {
    const Job& job = *entry.job;
    return job.managed && !job.het && entry.demand.wants_gpus() && job.request.gpu_type.empty() &&
           entry.gpus == 0 && !entry.on_cpus;
  }

  void add(PendingEntry& entry) {
    const Job& job = *entry.job;
    MatchCandidate candidate;
    candidate.entry = &entry;
    candidate.gpus = static_cast<int>(std::max<std::int64_t>(entry.demand.total(), 1));
    candidate.group.assign(at(types_), -1);
    accept(entry, candidate);
    candidate.choice.speed = forecasts_.speeds;
    if (job.hints && !job.hints->job_type.empty() && input_.models.throughput_model() != nullptr) {
      forecast(job, candidate);
    }
    candidate.left = samples_left(input_.snapshot, job);
    candidate.sized = !size_refused(input_.snapshot.memory, job.key);
    candidates_.push_back(std::move(candidate));
  }

  // Types it accepts, of which its nodes have as many GPUs as it asks for.
  void accept(const PendingEntry& entry, MatchCandidate& candidate) {
    const Job& job = *entry.job;
    const bool any = !job.hints || job.hints->gpu_types.empty();
    candidate.choice.bound = !any;
    const std::vector<int>& there = gpus_in(entry.later);
    for (TypeId type = 0; type < types_; ++type) {
      if (there[at(type)] < candidate.gpus) continue;
      if (any) {
        candidate.group[at(type)] = 0;
        continue;
      }
      const std::string& name = capacity_.types()[at(type)];
      const GpuTypes& groups = job.hints->gpu_types;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        if (std::find(groups[g].begin(), groups[g].end(), name) == groups[g].end()) continue;
        candidate.group[at(type)] = static_cast<int>(g);
        break;
      }
    }
  }

  const std::vector<int>& gpus_in(const NodeSet* nodes) {
    auto [found, fresh] = in_set_.try_emplace(nodes, at(types_), 0);
    if (!fresh) return found->second;
    for (const int node : *nodes) {
      for (const GpuGroup& group : input_.snapshot.nodes[at(node)].gpus) {
        const TypeId type = capacity_.type_id(group.type);
        if (type >= 0) found->second[at(type)] += group.total;
      }
    }
    return found->second;
  }

  void forecast(const Job& job, MatchCandidate& candidate) {
    for (TypeId type = 0; type < types_; ++type) {
      const Forecast f = forecast_for(input_.models, input_.config, job,
                                      capacity_.types()[at(type)], candidate.gpus);
      candidate.known = candidate.known || f.known_profile;
      candidate.choice.speed[at(type)] = hoped(f, type);
      candidate.choice.forecasts.push_back(f);
    }
  }

  // Samples/s; without a profile of its own only the ratios between types mean anything. What is
  // not known well is hoped to be better where it costs nobody a wait to find out.
  [[nodiscard]] double hoped(const Forecast& f, TypeId type) const {
    // It does not fit there: slower than all, and still a number above 0.
    if (!f.feasible) return std::exp(f.log_throughput) * 1e-6;
    const bool hope = f.known_profile && free_[at(type)];
    return std::exp(f.log_throughput + (hope ? kOptimism * std::min(f.stddev, 1.0) : 0.0));
  }

  // At that size: with the probability that it costs nobody a wait.
  [[nodiscard]] double hoped(const MatchCandidate& candidate, const Forecast& f, TypeId type,
                             int gpus) const {
    const double throughput = hoped(f, type);
    if (!f.feasible) return throughput;
    const double wait =
        lines_->chance(candidate.queue_position, type, gpus, candidate.work / f.throughput());
    return std::pow(f.throughput(), wait) * std::pow(throughput, 1 - wait);
  }

  // By type: some of its GPUs are free.
  [[nodiscard]] std::vector<bool> free_types() const {
    std::vector<bool> free(at(types_), false);
    for (int node = 0; node < capacity_.node_count(); ++node) {
      if (!input_.snapshot.nodes[at(node)].usable) continue;
      for (TypeId type = 0; type < types_; ++type) {
        if (free[at(type)] || !capacity_.has_type(node, type)) continue;
        free[at(type)] = capacity_.room(node, type, input_.now, input_.now + 1).gpus > 0;
      }
    }
    return free;
  }

  [[nodiscard]] static double best_speed(const MatchCandidate& candidate) {
    double best = 0;
    for (std::size_t type = 0; type < candidate.group.size(); ++type) {
      if (candidate.group[type] >= 0) best = std::max(best, candidate.choice.speed[type]);
    }
    return best > 0 ? best : 1;
  }

  void match_all() {
    std::vector<double> known;
    for (const MatchCandidate& candidate : candidates_) {
      if (candidate.known && candidate.left)
        known.push_back(*candidate.left / best_speed(candidate));
    }
    usual_ = known.empty() ? kUsualSeconds : upper_median(std::move(known));
    lines_.emplace(pools_of(input_, capacity_));
    std::vector<Contender> contenders;
    for (MatchCandidate& candidate : candidates_) {
      const bool told = candidate.known && candidate.left;
      candidate.work = told ? *candidate.left : usual_ * best_speed(candidate);
      contenders.push_back(contender_of(candidate));
    }
    std::vector<TypePool> pools;
    pools.reserve(at(types_));
    for (TypeId type = 0; type < types_; ++type) {
      pools.push_back({lines_->pool(type).gpus, lines_->pool(type).busy()});
    }
    const std::vector<TypeMatch> matches = match(contenders, pools);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (matches[i].pool >= 0) candidates_[i].choice.matched = matches[i].pool;
    }
    fill_queues();
  }

  [[nodiscard]] Contender contender_of(const MatchCandidate& candidate) const {
    Contender contender;
    for (TypeId type = 0; type < types_; ++type) {
      const bool can = candidate.group[at(type)] >= 0;
      const double seconds = can ? candidate.work / candidate.choice.speed[at(type)] : kForbidden;
      contender.seconds.push_back(seconds);
      contender.gpus.push_back(candidate.gpus);
    }
    return contender;
  }

  // Where each job of the queue stands among those that wait for the same type. A job that was not
  // matched waits for the type it is fastest on.
  void fill_queues() {
    std::map<JobKey, QueuePosition> places;  // a job may stand in the queue once for each partition
    auto next = candidates_.begin();
    for (const PendingEntry& entry : queue_.entries) {
      const bool seeks = next != candidates_.end() && next->entry == &entry;
      MatchCandidate* const candidate = seeks ? &*next++ : nullptr;
      if (entry.demand.wants_gpus() && entry.job->block == Block::kNone) {
        const auto [found, fresh] = places.try_emplace(entry.job->key);
        if (fresh) found->second = enqueue(entry, candidate);
        if (candidate != nullptr) candidate->queue_position = found->second;
      }
    }
  }

  QueuePosition enqueue(const PendingEntry& entry, const MatchCandidate* candidate) {
    const TypeId type = candidate != nullptr ? type_of(*candidate) : type_asked(*entry.job);
    if (type < 0) return {};
    const double seconds =
        candidate != nullptr ? candidate->work / candidate->choice.speed[at(type)] : usual_;
    return lines_->enqueue(
        type, static_cast<double>(std::max<std::int64_t>(entry.demand.total(), 1)), seconds);
  }

  [[nodiscard]] TypeId type_of(const MatchCandidate& candidate) const {
    if (candidate.matched()) return candidate.choice.matched;
    TypeId best = kNoGpu;
    for (TypeId type = 0; type < types_; ++type) {
      if (candidate.group[at(type)] < 0) continue;
      const std::vector<double>& speed = candidate.choice.speed;
      if (best < 0 || speed[at(type)] > speed[at(best)]) best = type;
    }
    return best;
  }

  [[nodiscard]] TypeId type_asked(const Job& job) const {
    return job.request.gpu_type.empty() ? kNoGpu : capacity_.type_id(job.request.gpu_type);
  }

  // Waits for what suits all best. A job of which only the speed of types is known does not for
  // long; no job once it could starve.
  [[nodiscard]] bool patient(const MatchCandidate& candidate) const {
    const Config& config = input_.config;
    const Seconds waited = input_.waited(*candidate.entry->job);
    if (config.starvation_bound > 0 && waited >= config.starvation_bound / 2) return false;
    return candidate.known || waited < config.reserve_after;
  }

  // At the size it asks for.
  [[nodiscard]] double own_cost(const MatchCandidate& candidate, TypeId type) const {
    const double seconds = candidate.work / candidate.choice.speed[at(type)];
    return lines_->cost(candidate.queue_position, type, candidate.gpus, seconds);
  }

  // What a size costs those who will come counts against what the size it asks for does on that
  // type: between types only those who wait count, for who will come can be matched to another.
  [[nodiscard]] double cost(const MatchCandidate& candidate, TypeId type, int gpus,
                            double speed) const {
    const double seconds = candidate.work / speed;
    const double own = candidate.work / candidate.choice.speed[at(type)];
    return lines_->cost(candidate.queue_position, type, gpus, seconds) +
           lines_->cost_to_come(candidate.queue_position, type, gpus, seconds) -
           lines_->cost_to_come(candidate.queue_position, type, candidate.gpus, own);
  }

  // The order of its types, and the choice into the entry.
  void finalise(MatchCandidate& candidate) {
    TypeChoice& choice = candidate.choice;
    // As any job: the types by speed.
    if (!candidate.known && !choice.bound && !candidate.matched()) return;
    for (TypeId type = 0; type < types_; ++type) {
      if (candidate.group[at(type)] >= 0) choice.order.push_back(type);
    }
    const bool hinted_order = choice.bound && candidate.entry->job->hints->gpu_types.size() > 1;
    if (candidate.matched()) score_configurations(candidate, !hinted_order && patient(candidate));
    std::stable_sort(choice.order.begin(), choice.order.end(), [&](TypeId a, TypeId b) {
      const auto key = [&](TypeId type) {
        return std::tuple(candidate.group[at(type)], -choice.speed[at(type)], type);
      };
      return key(a) < key(b);
    });
    if (hinted_order) {
      for (std::size_t i = 0; i < choice.order.size(); ++i) {
        choice.speed[at(choice.order[i])] = static_cast<double>(choice.order.size() - i);
      }
    }
    queue_.choices.push_back(std::make_unique<const TypeChoice>(std::move(choice)));
    candidate.entry->types = queue_.choices.back().get();
  }

  // The types by what they cost. One that is to wait for the type it was matched to takes no other
  // that costs more.
  void score_configurations(MatchCandidate& candidate, bool patient) {
    TypeChoice& choice = candidate.choice;
    std::vector<double> costs(at(types_), 0);
    for (const TypeId type : choice.order) {
      costs[at(type)] = own_cost(candidate, type);
    }
    double most = kForbidden;
    if (patient) most = costs[at(choice.matched)];
    // Less than it asks for may cost more, if it saves a wait.
    const PoolState& pool = lines_->pool(choice.matched);
    choice.load = pool.load.load;
    choice.delayed = lines_->delayed(candidate.queue_position, choice.matched, candidate.gpus,
                                     candidate.work / choice.speed[at(choice.matched)]);
    add_variants(candidate, most + kWaitShare * pool.busy() / std::max(pool.gpus, 1));
    const auto worse = [&](TypeId type) { return costs[at(type)] > most; };
    choice.waits_for_match = std::erase_if(choice.order, worse) > 0;
    for (const TypeId type : choice.order) choice.speed[at(type)] = 1 / costs[at(type)];
  }

  // The ways to start a job that runs at several sizes, best first.
  void add_variants(MatchCandidate& candidate, double most) const {
    const Job& job = *candidate.entry->job;
    if (!candidate.known || !candidate.sized) return;
    const std::vector<int> sizes = sizes_to_try(job);
    if (sizes.size() < 2) return;
    std::vector<StartConfiguration>& configurations = candidate.choice.configurations;
    for (const TypeId type : candidate.choice.order) {
      int reach = kStep * candidate.gpus;
      for (const int gpus : sizes) {
        const Forecast f =
            forecast_for(input_.models, input_.config, job, capacity_.types()[at(type)], gpus);
        if (f.samples > 0) reach = std::max(reach, kStep * gpus);
        const bool tried = f.samples > 0 || gpus <= candidate.gpus;
        const bool may = tried || (gpus <= reach && may_try(type));
        if (may) add_variant(candidate, type, gpus, f, most);
      }
    }
    std::stable_sort(configurations.begin(), configurations.end(),
                     [&](const StartConfiguration& a, const StartConfiguration& b) {
                       return std::tuple(candidate.group[at(a.type)], a.cost) <
                              std::tuple(candidate.group[at(b.type)], b.cost);
                     });
  }

  // A size that nobody has measured may turn out to be many times slower, and what is learnt from
  // it is of no use where no job grows.
  [[nodiscard]] bool may_try(TypeId type) const {
    const PoolLoad& load = lines_->pool(type).load;
    return load.load + kSureStddevs * load.error < 1;
  }

  void add_variant(MatchCandidate& candidate, TypeId type, int gpus, const Forecast& f,
                   double most) const {
    const Job& job = *candidate.entry->job;
    const std::string& name = capacity_.types()[at(type)];
    if (gpus < candidate.gpus) {
      if (!candidate.left || f.stddev > kSureStddev) return;
      const double longest = *candidate.left / std::exp(f.log_throughput - kSureStddevs * f.stddev);
      if (longest * kSlack > static_cast<double>(job.time_limit)) return;
    }
    const double costs = cost(candidate, type, gpus, hoped(candidate, f, type, gpus));
    if (costs > most) return;
    auto other = at_size(job, gpus, name);
    if (!other) return;
    StartConfiguration variant{type, gpus == candidate.gpus ? 0 : gpus, std::move(*other)};
    variant.demand = Demand(size_of(variant.job));
    variant.throughput = f.throughput();
    variant.cost = costs;
    candidate.choice.configurations.push_back(std::move(variant));
  }

  const RoundInput& input_;
  const Forecasts& forecasts_;
  const Capacity& capacity_;
  PendingQueue& queue_;
  int types_;
  std::vector<bool> free_;  ///< by TypeId
  std::vector<MatchCandidate> candidates_;
  double usual_ = kUsualSeconds;     ///< run time of a job of which nothing is known
  std::optional<TypeQueues> lines_;  ///< once somebody is matched
  std::map<const NodeSet*, std::vector<int>> in_set_;
};

}  // namespace

void choose_types(const RoundInput& input, const Forecasts& forecasts, const Capacity& capacity,
                  PendingQueue& queue) {
  TypeChooser(input, forecasts, capacity, queue).run();
}

}  // namespace rubato
