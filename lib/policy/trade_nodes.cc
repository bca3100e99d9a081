// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/trade_nodes.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "lib/core/resize_request.h"
#include "lib/policy/algorithms/growth_cap.h"
#include "lib/policy/algorithms/job_forecast.h"
#include "lib/policy/algorithms/size.h"
#include "lib/policy/asked_growth.h"
#include "lib/policy/asked_resize.h"
#include "lib/policy/kept_nodes.h"

namespace rubato {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// The job drops whole nodes and keeps that of its batch script.
bool shrinks(const Job& job, const std::vector<NodeShare>& then) {
  const std::vector<NodeShare>& held = job.allocation;
  const NodeIndex script = job.batch_node.valid() ? job.batch_node : held.front().node;
  return then.size() < held.size() && share_on(then, script) != nullptr &&
         std::ranges::all_of(then, [&](const NodeShare& share) {
           const NodeShare* const had = share_on(held, share.node);
           return had != nullptr && *had == share;
         });
}

/// The job keeps all that it has.
bool grows(const std::vector<NodeShare>& held, const std::vector<NodeShare>& then) {
  return std::ranges::all_of(held, [&](const NodeShare& had) {
    const NodeShare* const share = share_on(then, had.node);
    return share != nullptr && beyond(had, share).gpus.empty();
  });
}

ChangeAction action_of(const Job& job, const Change& change) {
  if (change.shares.empty()) return ChangeAction::kStop;
  const bool live = job.hints->resize == Resize::kLive && held_gpus(job) > 0;
  const bool told = live || change.plan == job.plan;
  if (told && change.shares == job.allocation) return ChangeAction::kNotify;
  if (live && shrinks(job, change.shares)) return ChangeAction::kShrink;
  if (live && grows(job.allocation, change.shares)) return ChangeAction::kGrow;
  return ChangeAction::kRestart;
}

class TradePlacer {
 public:
  TradePlacer(const MarketOutcome& outcome, Trades& trades)
      : o_(outcome),
        trades_(trades),
        then_(outcome.existing.capacity),
        now_(outcome.existing.capacity),
        table_(then_, outcome.existing.booked),
        placer_(outcome.input, outcome.forecasts, outcome.queue, then_, table_),
        kept_(then_, outcome.input.now),
        freed_by_(outcome.input.snapshot.nodes.size()) {}

  void run();

 private:
  struct Found {
    double value = 0;  ///< on these nodes
    double surplus = 0;
    int row = kNoRow;
    Placement placement;  ///< empty where the job stays
    PendingEntry as;
  };

  [[nodiscard]] const ConfigurationTable& table(std::size_t i) const { return o_.tables[i]; }
  [[nodiscard]] const MarketRow& bid(std::size_t i, int row) const {
    return o_.market.jobs[i].rows[at(row)];
  }
  /// What a row is worth beyond the price of its GPUs.
  [[nodiscard]] double surplus(std::size_t i, int row) const {
    const MarketRow& one = bid(i, row);
    return one.value - o_.allocation.price[at(one.pool)] * one.gpus;
  }
  [[nodiscard]] bool stays(std::size_t i) const {
    return table(i).held != kNoRow && o_.allocation.row[i] == table(i).held;
  }
  [[nodiscard]] std::vector<std::size_t> movers() const;
  [[nodiscard]] std::vector<int> rows_to_try(std::size_t i) const;
  [[nodiscard]] bool still_free(const Job& job, const std::vector<NodeShare>& shares) const;
  [[nodiscard]] std::optional<std::vector<NodeShare>> shares_kept(std::size_t i, int row) const;
  [[nodiscard]] PendingEntry entry_of(Job& sized, const Job& job) const;
  [[nodiscard]] PendingEntry entry_at(std::size_t i, int row);
  [[nodiscard]] std::optional<Placement> nodes_beside(std::size_t i, int row);
  [[nodiscard]] std::optional<Placement> nodes_for(std::size_t i, int row, const PendingEntry& as);
  [[nodiscard]] std::optional<Found> try_row(std::size_t i, int row);
  [[nodiscard]] std::optional<Found> best_of(std::size_t i);
  [[nodiscard]] bool keeps_promise(std::size_t i, int row, const Placement& placement) const;
  [[nodiscard]] double value_there(std::size_t i, int row, const Placement& placement) const;
  void decide(std::size_t i);
  void give_back(std::size_t i);
  void drop_waits_for_nothing();
  void stay(std::size_t i);
  void change(std::size_t i, Found found);
  void start(std::size_t i, Found found);
  void stop(std::size_t i);
  void configure(const Job& job, Placement& placement) const;
  [[nodiscard]] std::vector<JobKey> take(const Job& job, const std::vector<NodeShare>& shares,
                                         Seconds end);

  const MarketOutcome& o_;
  Trades& trades_;
  Capacity then_;  ///< once all changes are made
  Capacity now_;   ///< before any is made
  ReservationTable table_;
  Placer placer_;
  KeptNodes kept_;
  std::vector<std::vector<JobKey>> freed_by_;  ///< by node: the jobs that give up shares of it
};

// Jobs that do not stay, in the order in which they get nodes.
std::vector<std::size_t> TradePlacer::movers() const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < o_.tables.size(); ++i) {
    if (!stays(i) && o_.allocation.row[i] != kNoRow) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const MarketRow& x = bid(a, o_.allocation.row[a]);
    const MarketRow& y = bid(b, o_.allocation.row[b]);
    return std::tuple(o_.classes[a].keeps, -o_.classes[a].place, x.gpus, x.value) >
           std::tuple(o_.classes[b].keeps, -o_.classes[b].place, y.gpus, y.value);
  });
  return order;
}

void TradePlacer::run() {
  for (std::size_t i = 0; i < o_.tables.size(); ++i) {
    if (table(i).held == kNoRow) continue;
    if (stays(i)) {
      stay(i);
      continue;
    }
    if (!o_.classes[i].keeps) give_back(i);
  }
  for (std::size_t i = 0; i < o_.tables.size(); ++i) {
    if (o_.allocation.row[i] == kNoRow || stays(i) || o_.classes[i].keeps) continue;
    if (auto kept = shares_kept(i, o_.allocation.row[i]))
      kept_.hold(i, *std::move(kept), table(i).job->end_limit);
  }
  placer_.forget();
  for (std::size_t i = 0; i < o_.tables.size(); ++i) {
    if (o_.allocation.row[i] == kNoRow && table(i).held != kNoRow) stop(i);
  }
  for (const std::size_t i : movers()) decide(i);
  std::ranges::sort(trades_.changes, {}, &Change::job);
  drop_waits_for_nothing();
}

// What it holds is free for others from here on.
void TradePlacer::give_back(std::size_t i) {
  const Job& job = *table(i).job;
  for (const NodeShare& share : job.allocation) {
    then_.give_back(share, o_.input.now, job.end_limit);
    freed_by_[share.node].push_back(job.key);
  }
}

// A job that was to move, and stays after all, frees nothing.
void TradePlacer::drop_waits_for_nothing() {
  std::set<JobKey> leave;
  for (const Change& change : trades_.changes) {
    if (change.action != ChangeAction::kNotify) leave.insert(change.job);
  }
  const auto stays = [&](const JobKey& job) { return !leave.contains(job); };
  for (Change& change : trades_.changes) std::erase_if(change.after, stays);
  for (auto& [job, entry] : trades_.entries) std::erase_if(entry.after, stays);
}

// Its row, then those of at most its size, the one of most value beyond its price first.
std::vector<int> TradePlacer::rows_to_try(std::size_t i) const {
  const int chosen = o_.allocation.row[i];
  std::vector<int> rows{chosen};
  for (std::size_t row = 0; row < o_.market.jobs[i].rows.size(); ++row) {
    const int index = static_cast<int>(row);
    const bool held = index == table(i).held;
    const bool smaller = bid(i, index).gpus <= bid(i, chosen).gpus;
    if (index != chosen && bid(i, index).value > 0 && (held || smaller)) rows.push_back(index);
  }
  std::stable_sort(rows.begin() + 1, rows.end(),
                   [&](int a, int b) { return surplus(i, a) > surplus(i, b); });
  return rows;
}

bool TradePlacer::still_free(const Job& job, const std::vector<NodeShare>& shares) const {
  const Seconds now = o_.input.now;
  return has_room(then_, shares, now, std::max(job.end_limit, now + 1));
}

// What the job keeps if it takes the row while it runs; none if it must restart for it.
std::optional<std::vector<NodeShare>> TradePlacer::shares_kept(std::size_t i, int row) const {
  const NextConfiguration& to = table(i).rows[at(row)];
  if (!to.live || o_.input.config.off(Mechanism::kKeepNodes)) return std::nullopt;
  return rubato::shares_kept(o_.input.snapshot, *table(i).job, to.gpus);
}

// An entry for `sized`, a running job in another configuration or a part of it.
PendingEntry TradePlacer::entry_of(Job& sized, const Job& job) const {
  PendingEntry as;
  as.order = EntryIndex{o_.queue.entries.size()};
  as.later = o_.queue.set(job.later_set);
  as.nodes = job.node_set.valid() ? o_.queue.set(job.node_set) : as.later;
  as.held = &job.allocation;
  if (job.time_limit < kForever)
    sized.time_limit = std::max<Seconds>(job.end_limit - o_.input.now, 1);
  as.job = &sized;
  as.demand = Demand(size_of(sized));
  return as;
}

PendingEntry TradePlacer::entry_at(std::size_t i, int row) {
  const Job& job = *table(i).job;
  const NextConfiguration& to = table(i).rows[at(row)];
  PendingEntry as;
  auto sized = at_size(job, to.gpus, then_.types()[to.type]);
  if (!sized) return as;
  trades_.sized.push_back(std::move(*sized));
  as = table(i).entry != nullptr ? *table(i).entry : entry_of(trades_.sized.back(), job);
  as.job = &trades_.sized.back();
  as.demand = Demand(size_of(*as.job));
  as.types = nullptr;
  as.gpus = to.gpus == requested_gpus(job) ? 0 : to.gpus;
  return as;
}

// A row is worth less on more nodes than it needs, if the job is slower there.
double TradePlacer::value_there(std::size_t i, int row, const Placement& placement) const {
  const Job& job = *table(i).job;
  const NextConfiguration& to = table(i).rows[at(row)];
  const std::string& type = then_.types()[to.type];
  const double packed = forecast_at(o_.input, job, asked_of(job, type, to.gpus)).goodput();
  const double there = forecast_at(o_.input, job, resources_of(type, placement.shares)).goodput();
  return packed > 0 ? bid(i, row).value * there / packed : bid(i, row).value;
}

// On more nodes than it needs a row may be slower than the QOS of the job promises. A start as
// requested is what Slurm would do.
bool TradePlacer::keeps_promise(std::size_t i, int row, const Placement& placement) const {
  const Job& job = *table(i).job;
  const int gpus = table(i).rows[at(row)].gpus;
  const bool as_requested = table(i).entry != nullptr && gpus == requested_gpus(job);
  if (as_requested || !(table(i).promised > 0)) return true;
  const std::string& type = then_.type_name(placement.type);
  const double there = forecast_at(o_.input, job, resources_of(type, placement.shares)).goodput();
  return there >= table(i).promised;
}

// All that the job holds, and what it gets beside it.
std::optional<Placement> TradePlacer::nodes_beside(std::size_t i, int row) {
  const Job& job = *table(i).job;
  const NextConfiguration& to = table(i).rows[at(row)];
  auto more = part_beside(
      job,
      {.gpus = to.gpus - table(i).rows[at(table(i).held)].gpus, .gpu_type = then_.types()[to.type]},
      o_.input.now);
  if (!more || !still_free(job, job.allocation)) return std::nullopt;
  trades_.sized.push_back(*std::move(more));
  PendingEntry as = entry_of(trades_.sized.back(), job);
  for (const NodeShare& share : job.allocation) then_.take(share, o_.input.now, job.end_limit);
  auto placement = placer_.place(as);
  for (const NodeShare& share : job.allocation) then_.give_back(share, o_.input.now, job.end_limit);
  placer_.forget();
  if (!placement || !may_have_beside(job, to.gpus, placement->shares)) return std::nullopt;
  placement->shares = with_held(job, placement->shares);
  return placement;
}

// A job that changes while it runs keeps some of its nodes as they are, or all: other cores or GPUs
// there would be a restart.
std::optional<Placement> TradePlacer::nodes_for(std::size_t i, int row, const PendingEntry& as) {
  const NextConfiguration& to = table(i).rows[at(row)];
  if (!to.live) return placer_.place(as);
  if (to.gpus > table(i).rows[at(table(i).held)].gpus) return nodes_beside(i, row);
  const auto kept = shares_kept(i, row);
  if (!kept || !still_free(*table(i).job, *kept)) return std::nullopt;
  Placement placement;
  placement.type = to.type;
  placement.shares = *kept;
  return placement;
}

std::optional<TradePlacer::Found> TradePlacer::try_row(std::size_t i, int row) {
  const Job& job = *table(i).job;
  if (row == table(i).held) {
    if (!still_free(job, job.allocation)) return std::nullopt;
    return Found{bid(i, row).value, surplus(i, row), row, {}, {}};
  }
  Found found{0, 0, row, {}, entry_at(i, row)};
  if (found.as.job == nullptr) return std::nullopt;
  auto placement = nodes_for(i, row, found.as);
  if (!placement || !keeps_promise(i, row, *placement)) return std::nullopt;
  found.placement = std::move(*placement);
  found.placement.gpus = found.as.gpus;
  found.value =
      found.placement.shares.size() > 1 ? value_there(i, row, found.placement) : bid(i, row).value;
  found.surplus = surplus(i, row) - (bid(i, row).value - found.value);
  return found;
}

std::optional<TradePlacer::Found> TradePlacer::best_of(std::size_t i) {
  std::optional<Found> best;
  for (const int row : rows_to_try(i)) {
    // The row of the market stands if its nodes are as fast as the market assumed.
    if (best && best->row == o_.allocation.row[i] && best->value >= bid(i, best->row).value) break;
    if (best && best->surplus >= surplus(i, row)) break;
    auto found = try_row(i, row);
    if (found && found->value > 0 && (!best || found->surplus > best->surplus))
      best = std::move(found);
  }
  return best;
}

void TradePlacer::decide(std::size_t i) {
  if (o_.classes[i].keeps) give_back(i);
  if (kept_.release(i) || o_.classes[i].keeps) placer_.forget();
  std::optional<Found> best = best_of(i);
  if (!kept_.empty() && (!best || best->row != o_.allocation.row[i])) {
    kept_.release();
    placer_.forget();
    best = best_of(i);
  }
  const bool runs = table(i).entry == nullptr;
  const bool stays_here = best ? best->row == table(i).held : o_.classes[i].keeps;
  if (!best && !stays_here) {
    if (table(i).held != kNoRow) stop(i);
  } else if (stays_here) {
    for (const NodeShare& share : table(i).job->allocation)
      then_.take(share, o_.input.now, table(i).job->end_limit);
    stay(i);
  } else if (runs) {
    change(i, std::move(*best));
  } else {
    start(i, std::move(*best));
  }
  kept_.hold_again();
}

// The job keeps its GPUs and is told another batch, if that is better now; another plan too if it
// follows changes while it runs. That costs nothing.
void TradePlacer::stay(std::size_t i) {
  const Job& job = *table(i).job;
  const NextConfiguration& row = table(i).rows[at(table(i).held)];
  const bool plan = job.hints->resize == Resize::kLive && !row.plan.empty() && row.plan != job.plan;
  const bool batch = row.batch != 0 && row.batch != job.batch_size;
  if (!plan && !batch) return;
  Change change;
  change.job = job.key;
  change.partition = job.partition;
  change.action = ChangeAction::kNotify;
  change.gpu_type = then_.types()[row.type];
  change.gpus = row.gpus;
  change.plan = plan ? row.plan : job.plan;
  change.batch = row.batch != 0 ? row.batch : job.batch_size;
  change.shares = job.allocation;
  change.seconds_left = change.seconds_then = row.seconds;
  trades_.changes.push_back(std::move(change));
}

// Plan and batch for the nodes that it gets.
void TradePlacer::configure(const Job& job, Placement& placement) const {
  const JobSpec spec = spec_of(o_.input, job);
  if (!has_choice(spec) || o_.input.config.off(Mechanism::kPlans)) return;
  const Resources at = resources_of(then_.type_name(placement.type), placement.shares);
  const auto chosen = o_.input.models.forecasts().choice(job.key, spec, at);
  if (!chosen || !chosen->feasible) return;
  if (chosen->plan_chosen) placement.plan = chosen->plan;
  if (chosen->batch_chosen) placement.batch = chosen->batch;
  if (chosen->plan_chosen || chosen->batch_chosen) placement.model = to_string(chosen->model_kind);
}

// Takes the shares in both capacities. The result: who must give up nodes first.
std::vector<JobKey> TradePlacer::take(const Job& job, const std::vector<NodeShare>& shares,
                                      Seconds end) {
  std::set<JobKey> after;
  for (const NodeShare& share : shares) {
    then_.take(share, o_.input.now, end);
    const NodeShare more = beyond(
        share, job.state == JobState::kRunning ? share_on(job.allocation, share.node) : nullptr);
    const auto room_now = [&](TypeId type) {
      return now_.room(share.node, type, o_.input.now, o_.input.now + 1);
    };
    const NodeRoom room = room_now(kNoGpu);
    const bool free = room.cores >= more.cores && room.memory >= more.memory &&
                      std::ranges::all_of(more.gpus, [&](const GpuCount& group) {
                        return room_now(now_.type_id(group.type)).gpus >= group.count;
                      });
    now_.take(more, o_.input.now, end);
    trades_.taken.emplace_back(more, end);
    if (free) continue;
    for (const JobKey& other : freed_by_[share.node]) {
      if (other != job.key) after.insert(other);
    }
  }
  return {after.begin(), after.end()};
}

void TradePlacer::change(std::size_t i, Found found) {
  const Job& job = *table(i).job;
  const NextConfiguration& to = table(i).rows[at(found.row)];
  if (to.live) {
    found.placement.plan = to.plan.empty() ? job.plan : to.plan;
    found.placement.batch = to.batch;
  } else {
    configure(job, found.placement);
  }
  Change change;
  change.job = job.key;
  change.partition = job.partition;
  change.gpu_type = then_.types()[to.type];
  change.gpus = to.gpus;
  change.plan = found.placement.plan;
  change.batch = found.placement.batch;
  change.shares = found.placement.shares;
  change.action = action_of(job, change);
  change.cost = change_cost(job, to.live);
  change.seconds_left = seconds_now(table(i));
  change.seconds_then = to.seconds + change.cost;
  change.after = take(job, change.shares, job.end_limit);
  trades_.gains[job.key] =
      found.surplus - (table(i).held != kNoRow ? surplus(i, table(i).held) : 0);
  trades_.changes.push_back(std::move(change));
}

void TradePlacer::start(std::size_t i, Found found) {
  const PendingEntry& entry = *table(i).entry;
  configure(*entry.job, found.placement);
  trades_.gains[entry.job->key] = found.surplus;
  TradedEntry& traded = trades_.entries[entry.job->key];
  traded.after = take(*entry.job, found.placement.shares, found.as.end(o_.input.now));
  traded.placement = std::move(found.placement);
  traded.as = std::move(found.as);
}

void TradePlacer::stop(std::size_t i) {
  const Job& job = *table(i).job;
  Change change;
  change.job = job.key;
  change.partition = job.partition;
  change.action = ChangeAction::kStop;
  change.seconds_left = table(i).rows[at(table(i).held)].seconds;
  change.cost = job.costs.restart;
  trades_.gains[job.key] = -surplus(i, table(i).held);
  trades_.changes.push_back(std::move(change));
}

}  // namespace

void place_trades(const MarketOutcome& outcome, Trades& trades) {
  TradePlacer(outcome, trades).run();
}

}  // namespace rubato
