// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/round.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "lib/policy/algorithms/lineage.h"
#include "lib/policy/algorithms/size_history.h"
#include "lib/policy/asked_resize.h"
#include "lib/policy/budget.h"
#include "lib/policy/explain.h"
#include "lib/policy/match_and_size.h"
#include "lib/policy/memory.h"
#include "lib/policy/place.h"
#include "lib/policy/predict.h"
#include "lib/policy/prioritise.h"
#include "lib/policy/reserve.h"
#include "lib/policy/trade.h"
#include "lib/policy/trade_exploration.h"

namespace rubato {
namespace {

Plan make_plan(Seconds now, Placements placements, Trades trades,
               std::vector<Explanation> explanations, Memory memory) {
  Plan plan;
  plan.round = memory.round;
  plan.made = now;
  plan.starts = std::move(placements.starts);
  plan.changes = std::move(trades.changes);
  plan.stays = std::move(trades.stays);
  plan.prices = std::move(trades.prices);
  plan.explanations = std::move(explanations);
  plan.memory = std::move(memory);
  plan.reservations = plan.memory.reservations;
  std::stable_sort(plan.reservations.begin(), plan.reservations.end(),
                   [](const Reservation& a, const Reservation& b) {
                     return std::tie(a.start, a.job) < std::tie(b.start, b.job);
                   });
  return plan;
}

Plan decided(const Snapshot& snapshot, const Models& models, const Config& config, Seconds now) {
  const RoundInput input{snapshot, models, config, now};
  const Capacity capacity(snapshot, now);
  const Forecasts forecasts = predict(input, capacity.types());
  const QueueOrder order = prioritise(snapshot, config, forecasts.service, forecasts.needs);
  const PendingQueue queue = match_and_size(input, forecasts, order, capacity);
  const JobHistory history(input, queue);
  const Budget budget = budget_of(snapshot);
  // Existing reservations keep their nodes from all starts. New ones are made where the queue
  // reaches a job that cannot start, so place() makes them.
  ExistingReservations existing = reserve(input, forecasts, queue, history, budget, capacity);
  Trades trades;
  trades.explorations = recent_explorations(snapshot.memory, now);
  if (config.mode == Mode::kElastic && !config.off(Mechanism::kTrade))
    trades = trade(input, forecasts, queue, history, existing);
  Placements placements =
      place(input, forecasts, queue, history, budget, std::move(existing), trades);
  std::vector<Explanation> explanations =
      explain(input, forecasts, queue, capacity, history, placements);
  Memory memory = next_memory(input, forecasts, queue, capacity, history, placements, trades);
  return make_plan(now, std::move(placements), std::move(trades), std::move(explanations),
                   std::move(memory));
}

}  // namespace

Plan round(const Snapshot& snapshot, const Models& models, const Config& config, Seconds now) {
  std::optional<Snapshot> renewed;
  if (std::optional<Memory> followed = follow_requeues(snapshot)) {
    renewed = snapshot;
    renewed->memory = *std::move(followed);
  }
  if (!config.off(Mechanism::kKeepPlace)) {
    auto kept = with_restarts(renewed ? *renewed : snapshot);
    if (kept) renewed = std::move(kept);
  }
  Plan plan = decided(renewed ? *renewed : snapshot, models, config, now);
  if (renewed && !config.off(Mechanism::kKeepPlace)) pin_starts(snapshot.memory, plan);
  name_restarts(snapshot, plan);
  return plan;
}

}  // namespace rubato
