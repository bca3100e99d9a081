// SPDX-License-Identifier: GPL-2.0-or-later
// Why a job found no room: what it is short of, the numbers, and whose reservation is in the way.
#include <algorithm>
#include <limits>

#include "lib/policy/algorithms/placer.h"

namespace rubato {
Placer::Trial Placer::trial(const PendingEntry& entry, Level level) {
  Trial trial;
  for (const TypeId type : types_of(entry)) {
    gather(entry, type, entry.demand.min_nodes(), level, candidates_);
    trial.nodes = std::max(trial.nodes, static_cast<int>(candidates_.size()));
    trial.fits = trial.fits || carried(candidates_, entry.demand, entry.demand.min_nodes());
  }
  return trial;
}

void Placer::count(const PendingEntry& entry, PlacementFailure& failure) const {
  for (const TypeId type : types_of(entry)) {
    if (type != kAnyGpu) {
      failure.gpus.push_back({type, 0, 0});
      continue;
    }
    for (const TypeId one : forecasts_.fastest) failure.gpus.push_back({one, 0, 0});
  }
  if (!entry.demand.wants_gpus()) failure.gpus.clear();
  for (const NodeIndex node : *entry.nodes) {
    ++failure.nodes;
    if (!input_.snapshot.nodes[node].usable) continue;
    ++failure.nodes_up;
    const NodeRoom room = capacity_.room(node, kNoGpu, input_.now, input_.now + 1);
    failure.cores_free += std::max(room.cores, 0);
    failure.memory_free += std::max<MiB>(room.memory, 0);
    for (TypeCount& type : failure.gpus) {
      if (!capacity_.has_type(node, type.type)) continue;
      const NodeRoom gpus = capacity_.room(node, type.type, input_.now, input_.now + 1);
      type.free += std::max(gpus.gpus, 0);
      type.total += capacity_.total(node, type.type).gpus;
    }
  }
  std::erase_if(failure.gpus, [](const TypeCount& type) { return type.total == 0; });
}

void Placer::name_holder(const PendingEntry& entry, PlacementFailure& failure) const {
  for (const NodeIndex node : *entry.nodes) {
    const Job* job = nullptr;
    Seconds start = 0;
    if (failure.shortage == Shortage::kReserved) {
      const EntryIndex before =
          entry.job->managed ? EntryIndex{std::numeric_limits<int>::max()} : entry.order;
      const BookedReservation* booked = reservation_table_.conflicting_reservation(
          node, entry.job->key, entry.end(input_.now), before);
      if (booked == nullptr) continue;
      job = queue_.entries[booked->order].job;
      start = booked->reservation.start;
    } else if (failure.shortage == Shortage::kStockPlan) {
      const StockPlanInterval* interval = conflicting_stock_plan(entry, node, input_.now);
      if (interval == nullptr) continue;
      job = queue_.entries[interval->order].job;
      start = interval->from;
    } else {
      const bool queue = failure.shortage == Shortage::kQueue;
      job = queue ? closed_[node] : preempting_[node];
    }
    if (job == nullptr) continue;
    if (failure.holder.empty() || start < failure.holder_start) {
      failure.holder = job->label;
      failure.holder_start = start;
    }
  }
}

std::shared_ptr<const PlacementFailure> Placer::failure(const PendingEntry& entry) {
  FailureMemo& memo = memo_[key_of(entry)];
  if (memo.failure != nullptr && entry.job->time_limit >= memo.time_limit) return memo.failure;
  auto failure = std::make_shared<PlacementFailure>();
  count(entry, *failure);
  if (entry.demand.consistent()) find_shortage(entry, *failure);
  if (failure->shortage >= Shortage::kReserved) name_holder(entry, *failure);
  // Before reservations are looked at, the time limit has no part in it.
  memo.time_limit = failure->shortage < Shortage::kReserved ? 0 : entry.job->time_limit;
  memo.failure = std::move(failure);
  return memo.failure;
}

void Placer::find_shortage(const PendingEntry& entry, PlacementFailure& failure) {
  constexpr std::pair<Level, Shortage> kSteps[] = {
      {Level::kEmpty, Shortage::kNever},
      {Level::kUp, Shortage::kNodes},
      {Level::kGpus, Shortage::kGpus},
      {Level::kCores, Shortage::kCores},
      {Level::kMemory, Shortage::kMemory},
      {Level::kWhole, Shortage::kWholeNodes},
      {Level::kReserved, Shortage::kReserved},
      {Level::kStock, Shortage::kStockPlan},
      {Level::kPreempting, Shortage::kPreempting},
      {Level::kAll, Shortage::kQueue},
  };
  failure.nodes_before = failure.nodes;
  // What fits now would fit on empty nodes.
  const Trial now = trial(entry, Level::kGpus);
  for (const auto& [level, shortage] : kSteps) {
    if (now.fits && level < Level::kGpus) continue;
    const Trial tried = level == Level::kGpus ? now : trial(entry, level);
    failure.shortage = shortage;
    failure.nodes_room = tried.nodes;
    if (!tried.fits) return;
    failure.nodes_before = tried.nodes;
  }
}

}  // namespace rubato
