// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/place.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "lib/core/resize_request.h"
#include "lib/policy/algorithms/job_forecast.h"
#include "lib/policy/algorithms/placer.h"
#include "lib/policy/algorithms/reserver.h"

namespace rubato {
namespace {

constexpr Seconds kMinute = 60;
// Stock backfill takes a job without a limit for one of a year (backfill.c YEAR_MINUTES).
constexpr Seconds kLongestShortened = 365LL * 24 * 60 * kMinute;

/// Goes down the queue once and decides about each entry.
class SchedulingPass {
 public:
  SchedulingPass(const RoundInput& input, const Forecasts& forecasts, const PendingQueue& queue,
                 const JobHistory& history, const Budget& budget, ExistingReservations existing,
                 const Trades& trades);
  SchedulingPass(const SchedulingPass&) = delete;
  SchedulingPass& operator=(const SchedulingPass&) = delete;

  /// Decides about all entries. Call once.
  [[nodiscard]] Placements run();

 private:
  void decide(const PendingEntry& entry);
  void decide_managed(const PendingEntry& entry, EntryOutcome& outcome);
  void decide_unmanaged(const PendingEntry& entry, EntryOutcome& outcome);
  void decide_traded(const PendingEntry& entry, const TradedEntry& traded, EntryOutcome& outcome);
  /// Starts as many array tasks of it as have room; true if all.
  bool start_tasks(const PendingEntry& entry, EntryOutcome& outcome, const BookedReservation* own);
  [[nodiscard]] bool start_has_come(const PendingEntry& entry) const;
  [[nodiscard]] std::optional<Placement> on_reserved_nodes(const PendingEntry& entry,
                                                           const BookedReservation* own) const;
  [[nodiscard]] bool keeps_promise(const PendingEntry& entry, const StartConfiguration& variant,
                                   const Placement& placement) const;
  [[nodiscard]] std::optional<Placement> find_room(const PendingEntry& entry, PendingEntry& as,
                                                   Seconds time_limit = 0);
  [[nodiscard]] std::optional<Placement> find_mixed_room(const PendingEntry& entry);
  bool start_on_cpus(const PendingEntry& entry, EntryOutcome& outcome);
  [[nodiscard]] std::optional<Placement> find_shorter(const PendingEntry& entry, PendingEntry& as);
  void shorten(PendingEntry& entry, Seconds time_limit);
  void start(const PendingEntry& entry, const Placement& placement);
  void add_start(const PendingEntry& entry, const Placement& placement);
  [[nodiscard]] std::vector<GpuSpeed> speeds_of(const PendingEntry& entry,
                                                const Placement& placement) const;
  void configure(const PendingEntry& entry, Placement& placement) const;
  void attempt(const PendingEntry& entry, EntryOutcome& outcome);
  void close_partition(const PendingEntry& entry);
  void finish();
  void explain_started_elsewhere(const PendingEntry& entry, EntryOutcome& outcome) const;
  void cannot_start(const PendingEntry& entry, EntryOutcome& outcome,
                    std::optional<BookedReservation> own);
  [[nodiscard]] bool skip(const PendingEntry& entry, EntryOutcome& outcome);

  const RoundInput& input_;
  const Forecasts& forecasts_;
  const PendingQueue& queue_;
  const JobHistory& history_;
  const Budget& budget_;
  const Trades& trades_;
  Capacity capacity_;
  ReservationTable table_;
  Placer placer_;
  Reserver reserver_;
  ReservationRules rules_;
  PassedJobs passed_;
  std::vector<EntryOutcome> outcomes_;
  std::vector<Start> starts_;
  std::set<JobKey> started_;
  std::set<std::string> waiting_partitions_;  ///< with an unmanaged job that found no room
  std::deque<Job> shortened_;                 ///< jobs that are planned with a shorter time limit
};

SchedulingPass::SchedulingPass(const RoundInput& input, const Forecasts& forecasts,
                               const PendingQueue& queue, const JobHistory& history,
                               const Budget& budget, ExistingReservations existing,
                               const Trades& trades)
    : input_(input),
      forecasts_(forecasts),
      queue_(queue),
      history_(history),
      budget_(budget),
      trades_(trades),
      capacity_(std::move(existing.capacity)),
      table_(capacity_, std::move(existing.booked)),
      placer_(input, forecasts, queue, capacity_, table_),
      reserver_(input, capacity_, placer_),
      rules_(input, queue, history, budget, reserver_, table_, std::move(existing.yielding)),
      passed_(history, input.snapshot.nodes.size()),
      outcomes_(queue.entries.size()) {
  for (const auto& [share, end] : trades.taken) capacity_.take(share, input.now, end);
}

Placements SchedulingPass::run() {
  for (const PendingEntry& entry : queue_.entries) decide(entry);
  finish();
  return {std::move(outcomes_), std::move(starts_), table_.all(), passed_.counts()};
}

// An entry may wait or have a reservation although a later entry of its job starts.
void SchedulingPass::finish() {
  for (const PendingEntry& entry : queue_.entries) {
    EntryOutcome& outcome = outcomes_[entry.order];
    const bool waits = outcome.verdict == Verdict::kReserve || outcome.verdict == Verdict::kWait;
    if (!waits || outcome.skipped != Skipped::kNo) continue;
    if (started_.contains(entry.job->key)) {
      explain_started_elsewhere(entry, outcome);
    } else if (outcome.verdict == Verdict::kReserve && table_.find(entry.job->key) == nullptr) {
      outcome.verdict = Verdict::kWait;
    }
  }
}

void SchedulingPass::explain_started_elsewhere(const PendingEntry& entry,
                                               EntryOutcome& outcome) const {
  outcome.verdict = Verdict::kWait;
  outcome.skipped = Skipped::kOther;
  for (const Start& start : starts_) {
    if (start.job == entry.job->key) outcome.other = start.partition;
  }
}

void SchedulingPass::decide(const PendingEntry& entry) {
  EntryOutcome& outcome = outcomes_[entry.order];
  outcome.refusals = history_.of(entry).refusals;
  if (skip(entry, outcome)) return;
  if (const TradedEntry* const traded = trades_.of(entry.job->key)) {
    decide_traded(entry, *traded, outcome);
  } else if (entry.job->managed) {
    decide_managed(entry, outcome);
  } else {
    decide_unmanaged(entry, outcome);
  }
  const bool waits = outcome.failure != nullptr || outcome.skipped == Skipped::kBackOff ||
                     outcome.skipped == Skipped::kOutbid;
  if (waits) passed_.waits(entry);
}

bool SchedulingPass::skip(const PendingEntry& entry, EntryOutcome& outcome) {
  const Job& job = *entry.job;
  if (job.het) {
    outcome.verdict = Verdict::kStock;
    outcome.skipped = Skipped::kHet;
  } else if (job.block != Block::kNone) {
    outcome.verdict = Verdict::kBlocked;
    outcome.skipped = Skipped::kBlocked;
  } else if (budget_.runs(job.key)) {
    outcome.skipped = Skipped::kRunning;
  } else if (started_.contains(job.key)) {
    explain_started_elsewhere(entry, outcome);
  }
  return outcome.skipped != Skipped::kNo;
}

void SchedulingPass::decide_managed(const PendingEntry& entry, EntryOutcome& outcome) {
  const Job& job = *entry.job;
  if (rules_.restore_existing(entry)) placer_.forget();
  outcome.next_try = history_.next_try(entry);
  if (outcome.next_try > input_.now && !job.preempting && !start_has_come(entry)) {
    outcome.skipped = Skipped::kBackOff;
    cannot_start(entry, outcome, std::nullopt);
    return;
  }
  std::optional<BookedReservation> own;
  if (table_.find(job.key) != nullptr) {
    own = table_.remove(job.key);
    placer_.forget();
  }
  if (start_tasks(entry, outcome, own ? &*own : nullptr)) {
    if (own) placer_.forget();
    return;
  }
  if (outcome.started > 0) return;
  if (start_on_cpus(entry, outcome)) {
    if (own) placer_.forget();
    return;
  }
  outcome.failure = placer_.failure(entry);
  // Slurm may know a way that the model does not, but it ignores a hint that names types.
  const bool bound = entry.types != nullptr && entry.types->bound;
  const bool ask_slurm = !bound && (job.may_preempt || job.preempting ||
                                    outcome.failure->shortage == Shortage::kNever);
  if (ask_slurm) attempt(entry, outcome);
  if (job.preempting) placer_.keep_for_preemption(entry);
  cannot_start(entry, outcome, std::move(own));
}

// Its nodes are taken out of the capacity already. Further tasks of an array take what is free.
void SchedulingPass::decide_traded(const PendingEntry& entry, const TradedEntry& traded,
                                   EntryOutcome& outcome) {
  if (!traded.placement) {
    if (start_on_cpus(entry, outcome)) return;
    outcome.skipped = Skipped::kOutbid;
    outcome.worth = traded.worth;
    outcome.worth_type = traded.type;
    return;
  }
  add_start(traded.as, *traded.placement);
  starts_.back().after = traded.after;
  if (!traded.after.empty()) starts_.back().elsewhere = false;
  outcome.placement = traded.placement;
  outcome.verdict = Verdict::kStart;
  outcome.started = 1;
  if (entry.job->tasks > 1) start_tasks(entry, outcome, nullptr);
}

// The start that stock backfill found has come: the job is tried once whatever was refused before.
bool SchedulingPass::start_has_come(const PendingEntry& entry) const {
  const BookedReservation* booked = table_.find(entry.job->key);
  return booked != nullptr && asks_backfill(history_.of(entry)) &&
         booked->reservation.start <= input_.now &&
         history_.of(entry).last_try < booked->reservation.start;
}

std::optional<Placement> SchedulingPass::on_reserved_nodes(const PendingEntry& entry,
                                                           const BookedReservation* own) const {
  if (own == nullptr || !reserver_.ripe(entry, own->reservation)) return std::nullopt;
  return Placement{reserver_.type_of(entry, own->reservation), NodeScore{},
                   own->reservation.shares};
}

// Plans `entry` with another time limit; 0 leaves it as it is.
void SchedulingPass::shorten(PendingEntry& entry, Seconds time_limit) {
  if (time_limit == 0) return;
  entry.job = &shortened_.emplace_back(*entry.job);
  shortened_.back().time_limit = time_limit;
}

// On more nodes than it needs a smaller size may be slower than the QOS of the job promises.
bool SchedulingPass::keeps_promise(const PendingEntry& entry, const StartConfiguration& variant,
                                   const Placement& placement) const {
  const double promised = entry.types->promised;
  const bool smaller = variant.gpus > 0 && variant.gpus < requested_gpus(*entry.job);
  if (!(promised > 0) || !smaller) return true;
  const std::string& type = capacity_.type_name(placement.type);
  return forecast_at(input_, *entry.job, resources_of(type, placement.shares)).goodput() >=
         promised;
}

// Room for the first configuration that fits on nodes that are up. `as` becomes the entry in that
// configuration.
std::optional<Placement> SchedulingPass::find_room(const PendingEntry& entry, PendingEntry& as,
                                                   Seconds time_limit) {
  if (entry.types == nullptr || entry.types->configurations.empty()) {
    as = entry;
    shorten(as, time_limit);
    std::optional<Placement> placement = placer_.place(as);
    return placement ? placement : find_mixed_room(as);
  }
  std::optional<Placement> best;
  for (const StartConfiguration& variant : entry.types->configurations) {
    PendingEntry other = entry;
    other.job = &variant.job;
    other.demand = variant.demand;
    other.types = nullptr;
    other.gpus = variant.gpus;
    shorten(other, time_limit);
    std::optional<Placement> placement = placer_.place(other);
    if (!placement || (best && placement->score.powered_down > 0)) continue;
    if (!keeps_promise(entry, variant, *placement)) continue;
    const bool up = placement->score.powered_down == 0;
    placement->gpus = variant.gpus;
    placement->throughput = variant.throughput;
    best = std::move(placement);
    as = std::move(other);
    if (up) break;
  }
  if (best) return best;
  PendingEntry other = entry;
  shorten(other, time_limit);
  best = find_mixed_room(other);
  if (best) as = std::move(other);
  return best;
}

// At the requested size, where no type has room for the whole job. A job that waits for the type it
// was matched to waits on if that will be faster.
std::optional<Placement> SchedulingPass::find_mixed_room(const PendingEntry& entry) {
  if (input_.config.off(Mechanism::kMix) || !mixes(*entry.job)) return std::nullopt;
  if (!entry.demand.wants_gpus() || entry.gpus != 0) return std::nullopt;
  std::optional<Placement> placement = placer_.place_mixed(entry);
  if (!placement || entry.types == nullptr || !entry.types->waits_for_match) return placement;
  const std::vector<Forecast>& forecasts = entry.types->forecasts;
  double goodput = 0;  // each GPU works as fast as beside GPUs of its own type
  int gpus = 0;
  for (const NodeShare& share : placement->shares)
    for (const GpuCount& group : share.gpus) {
      const TypeId type = capacity_.type_id(group.type);
      if (!type.valid()) return std::nullopt;
      goodput += group.count * forecasts[type].goodput();
      gpus += group.count;
    }
  if (goodput < gpus * forecasts[entry.types->matched].goodput()) return std::nullopt;
  return placement;
}

// Where a job with device=any ends no later than by waiting for GPUs (TypeChooser::add_cpus()).
bool SchedulingPass::start_on_cpus(const PendingEntry& entry, EntryOutcome& outcome) {
  if (entry.types == nullptr || !entry.types->on_cpus) return false;
  PendingEntry as = entry;
  as.job = &entry.types->on_cpus->job;
  as.demand = entry.types->on_cpus->demand;
  as.types = nullptr;
  as.gpus = 0;
  as.on_cpus = as.spares_gpus = true;
  std::optional<Placement> placement = placer_.place(as);
  if (!placement) return false;
  placement->throughput = entry.types->on_cpus->throughput;
  start(as, *placement);
  outcome.placement = std::move(placement);
  outcome.verdict = Verdict::kStart;
  outcome.started = 1;
  return true;
}

// A job with --time-min may start before a reservation with a shorter limit, the longest that has
// room, in minutes (stock backfill does so: sched/backfill, _reset_job_time_limit).
std::optional<Placement> SchedulingPass::find_shorter(const PendingEntry& entry, PendingEntry& as) {
  const Job& job = *entry.job;
  if (job.time_min <= 0 || job.time_min >= job.time_limit) return std::nullopt;
  Seconds fits = (job.time_min + kMinute - 1) / kMinute;
  Seconds too_long = std::min(job.time_limit, kLongestShortened) / kMinute;
  std::optional<Placement> placement = find_room(entry, as, fits * kMinute);
  if (!placement) return std::nullopt;
  while (too_long - fits > 1) {
    const Seconds middle = fits + (too_long - fits) / 2;
    PendingEntry other = entry;
    std::optional<Placement> longer = find_room(entry, other, middle * kMinute);
    if (longer) {
      placement = std::move(longer);
      as = std::move(other);
    }
    (longer ? fits : too_long) = middle;
  }
  placement->time_limit = fits * kMinute;
  return placement;
}

bool SchedulingPass::start_tasks(const PendingEntry& entry, EntryOutcome& outcome,
                                 const BookedReservation* own) {
  const int tasks = std::max(entry.job->tasks, 1);
  while (outcome.started < tasks) {
    PendingEntry as = entry;
    const BookedReservation* reserved = outcome.started == 0 ? own : nullptr;
    std::optional<Placement> placement;
    // Of a job that the model does not know, backfill's nodes go before those of the model.
    if (asks_backfill(history_.of(entry))) placement = on_reserved_nodes(entry, reserved);
    if (!placement) placement = find_room(entry, as);
    if (!placement) placement = on_reserved_nodes(entry, reserved);
    if (!placement) placement = find_shorter(entry, as);
    if (!placement) break;
    configure(as, *placement);
    start(as, *placement);
    if (++outcome.started == 1) outcome.placement = std::move(placement);
  }
  if (outcome.started == 0) return false;
  outcome.verdict = Verdict::kStart;
  if (outcome.started == tasks) return true;
  outcome.failure = placer_.failure(entry);
  return false;
}

// Chooses plan and batch if the hints leave them open and the models know the job.
void SchedulingPass::configure(const PendingEntry& entry, Placement& placement) const {
  if (input_.config.off(Mechanism::kPlans)) return;
  const JobSpec spec = spec_of(input_, *entry.job);
  if (!has_choice(spec)) return;
  const Resources at = resources_of(capacity_.type_name(placement.type), placement.shares);
  const std::optional<Prediction> chosen =
      input_.models.forecasts().choice(entry.job->key, spec, at);
  if (!chosen || !chosen->feasible) return;
  if (chosen->plan_chosen) placement.plan = chosen->plan;
  if (chosen->batch_chosen) placement.batch = chosen->batch;
  if (chosen->plan_chosen || chosen->batch_chosen) placement.model = to_string(chosen->model_kind);
}

void SchedulingPass::start(const PendingEntry& entry, const Placement& placement) {
  for (const NodeShare& share : placement.shares) {
    capacity_.take(share, input_.now, entry.end(input_.now));
  }
  add_start(entry, placement);
}

void SchedulingPass::add_start(const PendingEntry& entry, const Placement& placement) {
  passed_.started(placement.shares);
  started_.insert(entry.job->key);
  Start start;
  start.job = entry.job->key;
  start.partition = entry.job->partition;
  start.reservation = entry.job->reservation;
  start.managed = true;
  start.gpu_type = capacity_.type_name(placement.type);
  start.gpus = entry.gpus;
  start.on_cpus = entry.on_cpus;
  start.plan = placement.plan;
  start.batch = placement.batch;
  start.shares = placement.shares;
  // Slurm would also take nodes of a GPU type that the hints do not name.
  const bool bound = entry.types != nullptr && entry.types->bound;
  start.elsewhere = !bound && !placer_.bounded(entry);
  start.time_limit = placement.time_limit;
  if (placement.type == kAnyGpu && mixes(*entry.job)) start.speeds = speeds_of(entry, placement);
  starts_.push_back(std::move(start));
}

// As the models predict them at the requested size, or else as rubato.conf says.
std::vector<GpuSpeed> SchedulingPass::speeds_of(const PendingEntry& entry,
                                                const Placement& placement) const {
  std::set<std::string> types;
  for (const NodeShare& share : placement.shares)
    for (const GpuCount& group : share.gpus) types.insert(group.type);
  const bool predicted = entry.types != nullptr && !entry.types->forecasts.empty() &&
                         std::ranges::all_of(types, [&](const std::string& name) {
                           const TypeId type = capacity_.type_id(name);
                           return type.valid() && entry.types->forecasts[type].known_profile;
                         });
  std::vector<GpuSpeed> speeds;
  for (const std::string& name : types) {
    const TypeId type = capacity_.type_id(name);
    if (!type.valid()) return {};
    speeds.push_back(
        {name, predicted ? entry.types->forecasts[type].goodput() : forecasts_.speeds[type]});
  }
  return speeds;
}

// Slurm itself chooses the nodes.
void SchedulingPass::attempt(const PendingEntry& entry, EntryOutcome& outcome) {
  Start start;
  start.job = entry.job->key;
  start.partition = entry.job->partition;
  start.reservation = entry.job->reservation;
  start.managed = entry.job->managed;
  starts_.push_back(std::move(start));
  outcome.verdict = Verdict::kAttempt;
  ++outcome.started;
}

void SchedulingPass::cannot_start(const PendingEntry& entry, EntryOutcome& outcome,
                                  std::optional<BookedReservation> own) {
  outcome.kept_gpus = rules_.reserve_for(entry, std::move(own));
  const bool reserved = table_.find(entry.job->key) != nullptr;
  if (reserved && outcome.verdict == Verdict::kWait) outcome.verdict = Verdict::kReserve;
}

// Slurm chooses the nodes. The jobs below do not get those that it will probably take.
void SchedulingPass::decide_unmanaged(const PendingEntry& entry, EntryOutcome& outcome) {
  const Job& job = *entry.job;
  if (waiting_partitions_.contains(job.partition)) {
    outcome.failure = placer_.failure(entry);
    return;
  }
  for (int task = 0; task < std::max(job.tasks, 1); ++task) {
    std::optional<Placement> placement = placer_.place(entry);
    if (!placement) {
      outcome.failure = placer_.failure(entry);
      break;
    }
    attempt(entry, outcome);
    for (const NodeShare& share : placement->shares) {
      capacity_.take(share, input_.now, entry.end(input_.now));
    }
    if (task == 0) outcome.placement = std::move(placement);
  }
  if (outcome.started > 0) started_.insert(job.key);
  if (outcome.failure == nullptr || outcome.failure->shortage == Shortage::kQueue) return;
  // The first without room: slurmctld decides, since the model is not exact here.
  attempt(entry, outcome);
  if (outcome.failure->shortage != Shortage::kNever) close_partition(entry);
}

void SchedulingPass::close_partition(const PendingEntry& entry) {
  const std::string& name = entry.job->partition;
  waiting_partitions_.insert(name);
  const auto& partitions = input_.snapshot.partitions;
  const auto partition = std::find_if(partitions.begin(), partitions.end(),
                                      [&](const auto& p) { return p.name == name; });
  const NodeSet* nodes = entry.nodes;
  if (partition != partitions.end()) nodes = queue_.set(partition->node_set);
  placer_.close_to_unmanaged(nodes->empty() ? *entry.nodes : *nodes, entry);
}

}  // namespace

Placements place(const RoundInput& input, const Forecasts& forecasts, const PendingQueue& queue,
                 const JobHistory& history, const Budget& budget, ExistingReservations existing,
                 const Trades& trades) {
  return SchedulingPass(input, forecasts, queue, history, budget, std::move(existing), trades)
      .run();
}

}  // namespace rubato
