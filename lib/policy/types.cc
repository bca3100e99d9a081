// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/types.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "lib/core/resize_request.h"
#include "lib/policy/assign.h"
#include "lib/policy/forecast.h"
#include "lib/policy/match.h"
#include "lib/policy/pools.h"
#include "lib/policy/predict.h"
#include "lib/policy/size.h"

namespace rubato {
namespace {

// Of a job whose run time nobody can tell, when nobody else's is known either.
constexpr double kUsualSeconds = 3600;
// A type that is not known well counts as faster by this share of its spread where it is free.
constexpr double kOptimism = 0.5;
// GPUs come free one after the other: until some do it takes this share of the time until all do.
constexpr double kWaitShare = 0.25;
// A smaller size must fit into the time limit even if the rate is two spreads below its forecast,
// with this to spare for start and checkpoints.
constexpr double kSlack = 1.25;
constexpr double kSureSpreads = 2;
// And only where the speed of the GPU type for its job type is known as well as that: guesses from
// other types are at times off by more than any number of their spreads.
constexpr double kSureSpread = 0.35;
// A size that nobody has measured is tried up to so many times the largest that was: what a job
// wastes if the forecast is wrong has a bound, and the next forecast is better.
constexpr int kStep = 2;
// How the refusal of a start at another size begins (plugin/actuate); such a job is planned as
// requested until it asks for something else.
constexpr const char* kRefusedSize = "another size:";

std::size_t at(int index) { return static_cast<std::size_t>(index); }

double median(std::vector<double> values, double otherwise) {
  if (values.empty()) return otherwise;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool size_refused(const Memory& memory, const JobKey& job) {
  const JobMemory* const found = memory_of(memory, job);
  return found != nullptr && found->refusal.starts_with(kRefusedSize);
}

class Chooser {
 public:
  Chooser(RoundContext& context, const Models& models, const Capacity& capacity,
          std::vector<std::unique_ptr<const TypeChoice>>& choices)
      : context_(context),
        models_(models),
        capacity_(capacity),
        choices_(choices),
        types_(static_cast<int>(capacity.types().size())),
        free_(free_types()) {}

  void run() {
    if (context_.config.off("forecast")) return;
    for (Entry& entry : context_.queue) {
      if (free_to_choose(entry)) add(entry);
    }
    if (seekers_.empty()) return;
    if (std::any_of(seekers_.begin(), seekers_.end(), [](const Seeker& s) { return s.known; })) {
      match_all();
    }
    for (Seeker& seeker : seekers_) settle(seeker);
  }

 private:
  struct Seeker {
    Entry* entry = nullptr;
    bool known = false;  ///< a forecast that rests on its own profile
    int gpus = 1;        ///< it asks for
    TypeChoice choice;
    std::vector<int> group;      ///< by TypeId: place of the type's group in the hint, -1: never
    std::optional<double> left;  ///< samples
    double work = 0;             ///< samples, a guess where `left` is empty
    PlaceInLine place;           ///< among those that wait
    bool sized = true;           ///< may start at another size

    [[nodiscard]] bool matched() const { return choice.matched >= 0; }
  };

  static bool free_to_choose(const Entry& entry) {
    const Job& job = *entry.job;
    return job.managed && !job.het && entry.demand.wants_gpus() && job.request.gpu_type.empty() &&
           entry.gpus == 0 && !entry.on_cpus;
  }

  void add(Entry& entry) {
    const Job& job = *entry.job;
    Seeker seeker;
    seeker.entry = &entry;
    seeker.gpus = static_cast<int>(std::max<std::int64_t>(entry.demand.total(), 1));
    seeker.group.assign(at(types_), -1);
    accept(entry, seeker);
    seeker.choice.speed = context_.speeds;
    if (job.hints && !job.hints->job_type.empty() && models_.learnt() != nullptr) {
      forecast(job, seeker);
    }
    seeker.left = samples_left(context_.snapshot, job);
    seeker.sized = !size_refused(context_.snapshot.memory, job.key);
    seekers_.push_back(std::move(seeker));
  }

  // Types it accepts, of which its nodes have as many GPUs as it asks for.
  void accept(const Entry& entry, Seeker& seeker) {
    const Job& job = *entry.job;
    const bool any = !job.hints || job.hints->gpu_types.empty();
    seeker.choice.bound = !any;
    const std::vector<int>& there = gpus_in(entry.later);
    for (TypeId type = 0; type < types_; ++type) {
      if (there[at(type)] < seeker.gpus) continue;
      if (any) {
        seeker.group[at(type)] = 0;
        continue;
      }
      const std::string& name = capacity_.types()[at(type)];
      const GpuTypes& groups = job.hints->gpu_types;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        if (std::find(groups[g].begin(), groups[g].end(), name) == groups[g].end()) continue;
        seeker.group[at(type)] = static_cast<int>(g);
        break;
      }
    }
  }

  const std::vector<int>& gpus_in(const NodeSet* nodes) {
    auto [found, fresh] = in_set_.try_emplace(nodes, at(types_), 0);
    if (!fresh) return found->second;
    for (const int node : *nodes) {
      for (const GpuGroup& group : context_.snapshot.nodes[at(node)].gpus) {
        const TypeId type = capacity_.type_id(group.type);
        if (type >= 0) found->second[at(type)] += group.total;
      }
    }
    return found->second;
  }

  void forecast(const Job& job, Seeker& seeker) {
    for (TypeId type = 0; type < types_; ++type) {
      const Forecast f =
          forecast_for(models_, context_.config, job, capacity_.types()[at(type)], seeker.gpus);
      seeker.known = seeker.known || f.known_profile;
      seeker.choice.speed[at(type)] = hoped(f, type);
      seeker.choice.forecasts.push_back(f);
    }
  }

  // Samples/s; without a profile of its own only the ratios between types mean anything. What is
  // not known well is hoped to be better where it costs nobody a wait to find out.
  [[nodiscard]] double hoped(const Forecast& f, TypeId type) const {
    // It does not fit there: slower than all, and still a number above 0.
    if (!f.feasible) return std::exp(f.log_rate) * 1e-6;
    const bool hope = f.known_profile && free_[at(type)];
    return std::exp(f.log_rate + (hope ? kOptimism * std::min(f.spread, 1.0) : 0.0));
  }

  // At that size: with the probability that it costs nobody a wait.
  [[nodiscard]] double hoped(const Seeker& seeker, const Forecast& f, TypeId type, int gpus) const {
    const double rate = hoped(f, type);
    if (!f.feasible) return rate;
    const double wait = lines_->chance(seeker.place, type, gpus, seeker.work / f.rate());
    return std::pow(f.rate(), wait) * std::pow(rate, 1 - wait);
  }

  // By type: some of its GPUs are free.
  [[nodiscard]] std::vector<bool> free_types() const {
    std::vector<bool> free(at(types_), false);
    for (int node = 0; node < capacity_.node_count(); ++node) {
      if (!context_.snapshot.nodes[at(node)].usable) continue;
      for (TypeId type = 0; type < types_; ++type) {
        if (free[at(type)] || !capacity_.has_type(node, type)) continue;
        free[at(type)] = capacity_.room(node, type, context_.now, context_.now + 1).gpus > 0;
      }
    }
    return free;
  }

  [[nodiscard]] static double best_speed(const Seeker& seeker) {
    double best = 0;
    for (std::size_t type = 0; type < seeker.group.size(); ++type) {
      if (seeker.group[type] >= 0) best = std::max(best, seeker.choice.speed[type]);
    }
    return best > 0 ? best : 1;
  }

  void match_all() {
    std::vector<double> known;
    for (const Seeker& seeker : seekers_) {
      if (seeker.known && seeker.left) known.push_back(*seeker.left / best_speed(seeker));
    }
    usual_ = median(known, kUsualSeconds);
    lines_.emplace(pools_of(context_, capacity_));
    std::vector<Contender> contenders;
    for (Seeker& seeker : seekers_) {
      const bool told = seeker.known && seeker.left;
      seeker.work = told ? *seeker.left : usual_ * best_speed(seeker);
      contenders.push_back(contender_of(seeker));
    }
    std::vector<Pool> pools;
    pools.reserve(at(types_));
    for (TypeId type = 0; type < types_; ++type) {
      pools.push_back({lines_->pool(type).gpus, lines_->pool(type).busy()});
    }
    const std::vector<Match> matches = match(contenders, pools);
    for (std::size_t i = 0; i < seekers_.size(); ++i) {
      if (matches[i].pool >= 0) seekers_[i].choice.matched = matches[i].pool;
    }
    line_up();
  }

  [[nodiscard]] Contender contender_of(const Seeker& seeker) const {
    Contender contender;
    for (TypeId type = 0; type < types_; ++type) {
      const bool can = seeker.group[at(type)] >= 0;
      const double seconds = can ? seeker.work / seeker.choice.speed[at(type)] : kForbidden;
      contender.seconds.push_back(seconds);
      contender.gpus.push_back(seeker.gpus);
    }
    return contender;
  }

  // Where each job of the queue stands among those that wait for the same type. A job that was not
  // matched waits for the type it is fastest on.
  void line_up() {
    std::map<JobKey, PlaceInLine> places;  // a job may stand in the queue once for each partition
    auto next = seekers_.begin();
    for (const Entry& entry : context_.queue) {
      const bool seeks = next != seekers_.end() && next->entry == &entry;
      Seeker* const seeker = seeks ? &*next++ : nullptr;
      if (entry.demand.wants_gpus() && entry.job->block == Block::kNone) {
        const auto [found, fresh] = places.try_emplace(entry.job->key);
        if (fresh) found->second = join(entry, seeker);
        if (seeker != nullptr) seeker->place = found->second;
      }
    }
  }

  PlaceInLine join(const Entry& entry, const Seeker* seeker) {
    const TypeId type = seeker != nullptr ? type_of(*seeker) : type_asked(*entry.job);
    if (type < 0) return {};
    const double seconds =
        seeker != nullptr ? seeker->work / seeker->choice.speed[at(type)] : usual_;
    return lines_->join(type, static_cast<double>(std::max<std::int64_t>(entry.demand.total(), 1)),
                        seconds);
  }

  [[nodiscard]] TypeId type_of(const Seeker& seeker) const {
    if (seeker.matched()) return seeker.choice.matched;
    TypeId best = kNoGpu;
    for (TypeId type = 0; type < types_; ++type) {
      if (seeker.group[at(type)] < 0) continue;
      const std::vector<double>& speed = seeker.choice.speed;
      if (best < 0 || speed[at(type)] > speed[at(best)]) best = type;
    }
    return best;
  }

  [[nodiscard]] TypeId type_asked(const Job& job) const {
    return job.request.gpu_type.empty() ? kNoGpu : capacity_.type_id(job.request.gpu_type);
  }

  // Waits for what suits all best. A job of which only the speed of types is known does not for
  // long; no job once it could starve.
  [[nodiscard]] bool patient(const Seeker& seeker) const {
    const Config& config = context_.config;
    const Seconds waited = context_.waited(*seeker.entry->job);
    if (config.starvation_bound > 0 && waited >= config.starvation_bound / 2) return false;
    return seeker.known || waited < config.reserve_after;
  }

  // At the size it asks for.
  [[nodiscard]] double own_cost(const Seeker& seeker, TypeId type) const {
    const double seconds = seeker.work / seeker.choice.speed[at(type)];
    return lines_->cost(seeker.place, type, seeker.gpus, seconds);
  }

  // What a size costs those who will come counts against what the size it asks for does on that
  // type: between types only those who wait count, for who will come can be matched to another.
  [[nodiscard]] double cost(const Seeker& seeker, TypeId type, int gpus, double speed) const {
    const double seconds = seeker.work / speed;
    const double own = seeker.work / seeker.choice.speed[at(type)];
    return lines_->cost(seeker.place, type, gpus, seconds) +
           lines_->cost_to_come(seeker.place, type, gpus, seconds) -
           lines_->cost_to_come(seeker.place, type, seeker.gpus, own);
  }

  // The order of its types, and the choice into the entry.
  void settle(Seeker& seeker) {
    TypeChoice& choice = seeker.choice;
    // As any job: the types by speed.
    if (!seeker.known && !choice.bound && !seeker.matched()) return;
    for (TypeId type = 0; type < types_; ++type) {
      if (seeker.group[at(type)] >= 0) choice.order.push_back(type);
    }
    const bool hinted_order = choice.bound && seeker.entry->job->hints->gpu_types.size() > 1;
    if (seeker.matched()) weigh(seeker, !hinted_order && patient(seeker));
    std::stable_sort(choice.order.begin(), choice.order.end(), [&](TypeId a, TypeId b) {
      const auto key = [&](TypeId type) {
        return std::tuple(seeker.group[at(type)], -choice.speed[at(type)], type);
      };
      return key(a) < key(b);
    });
    if (hinted_order) {
      for (std::size_t i = 0; i < choice.order.size(); ++i) {
        choice.speed[at(choice.order[i])] = static_cast<double>(choice.order.size() - i);
      }
    }
    choices_.push_back(std::make_unique<const TypeChoice>(std::move(choice)));
    seeker.entry->types = choices_.back().get();
  }

  // The types by what they cost. One that is to wait for the type it was matched to takes no other
  // that costs more.
  void weigh(Seeker& seeker, bool patient) {
    TypeChoice& choice = seeker.choice;
    std::vector<double> costs(at(types_), 0);
    for (const TypeId type : choice.order) {
      costs[at(type)] = own_cost(seeker, type);
    }
    double most = kForbidden;
    if (patient) most = costs[at(choice.matched)];
    // Less than it asks for may cost more, if it saves a wait.
    const PoolState& pool = lines_->pool(choice.matched);
    choice.load = pool.load.load;
    choice.delayed = lines_->delayed(seeker.place, choice.matched, seeker.gpus,
                                     seeker.work / choice.speed[at(choice.matched)]);
    add_variants(seeker, most + kWaitShare * pool.busy() / std::max(pool.gpus, 1));
    const auto worse = [&](TypeId type) { return costs[at(type)] > most; };
    choice.waits_for_match = std::erase_if(choice.order, worse) > 0;
    for (const TypeId type : choice.order) choice.speed[at(type)] = 1 / costs[at(type)];
  }

  // The ways to start a job that runs at several sizes, best first.
  void add_variants(Seeker& seeker, double most) const {
    const Job& job = *seeker.entry->job;
    if (!seeker.known || !seeker.sized) return;
    const std::vector<int> sizes = sizes_to_try(job);
    if (sizes.size() < 2) return;
    std::vector<Variant>& variants = seeker.choice.variants;
    for (const TypeId type : seeker.choice.order) {
      int reach = kStep * seeker.gpus;
      for (const int gpus : sizes) {
        const Forecast f =
            forecast_for(models_, context_.config, job, capacity_.types()[at(type)], gpus);
        if (f.samples > 0) reach = std::max(reach, kStep * gpus);
        const bool tried = f.samples > 0 || gpus <= seeker.gpus;
        const bool may = tried || (gpus <= reach && may_try(type));
        if (may) add_variant(seeker, type, gpus, f, most);
      }
    }
    std::stable_sort(variants.begin(), variants.end(), [&](const Variant& a, const Variant& b) {
      return std::tuple(seeker.group[at(a.type)], a.cost) <
             std::tuple(seeker.group[at(b.type)], b.cost);
    });
  }

  // A size that nobody has measured may turn out to be many times slower, and what is learnt from
  // it is of no use where no job grows.
  [[nodiscard]] bool may_try(TypeId type) const {
    const PoolLoad& load = lines_->pool(type).load;
    return load.load + kSureSpreads * load.error < 1;
  }

  void add_variant(Seeker& seeker, TypeId type, int gpus, const Forecast& f, double most) const {
    const Job& job = *seeker.entry->job;
    const std::string& name = capacity_.types()[at(type)];
    if (gpus < seeker.gpus) {
      if (!seeker.left || f.spread > kSureSpread) return;
      const double longest = *seeker.left / std::exp(f.log_rate - kSureSpreads * f.spread);
      if (longest * kSlack > static_cast<double>(job.time_limit)) return;
    }
    const double costs = cost(seeker, type, gpus, hoped(seeker, f, type, gpus));
    if (costs > most) return;
    auto other = at_size(job, gpus, name);
    if (!other) return;
    Variant variant{type, gpus == seeker.gpus ? 0 : gpus, std::move(*other)};
    variant.demand = Demand(size_of(variant.job));
    variant.rate = f.rate();
    variant.cost = costs;
    seeker.choice.variants.push_back(std::move(variant));
  }

  RoundContext& context_;
  const Models& models_;
  const Capacity& capacity_;
  std::vector<std::unique_ptr<const TypeChoice>>& choices_;
  int types_;
  std::vector<bool> free_;  ///< by TypeId
  std::vector<Seeker> seekers_;
  double usual_ = kUsualSeconds;  ///< run time of a job of which nothing is known
  std::optional<Lines> lines_;    ///< once somebody is matched
  std::map<const NodeSet*, std::vector<int>> in_set_;
};

}  // namespace

void choose_types(RoundContext& context, const Models& models, const Capacity& capacity,
                  std::vector<std::unique_ptr<const TypeChoice>>& choices) {
  Chooser(context, models, capacity, choices).run();
}

}  // namespace rubato
