// SPDX-License-Identifier: GPL-2.0-or-later
// Stage trade: nodes for the rows that the market gave.
#pragma once

#include <vector>

#include "lib/policy/algorithms/configuration_table.h"
#include "lib/policy/market/market.h"
#include "lib/policy/market/precedence.h"
#include "lib/policy/trade.h"

namespace rubato {

/// What the market decided. `market.jobs`, `classes` and `allocation.row` go with `tables`.
struct MarketOutcome {
  const RoundInput& input;
  const Forecasts& forecasts;
  const PendingQueue& queue;
  const ExistingReservations& existing;
  const std::vector<ConfigurationTable>& tables;
  const Market& market;
  const std::vector<ClassedJob>& classes;
  const Allocation& allocation;
};

/// Fills in changes, entries and what they take. Jobs that stay keep their nodes; the others
/// follow, those of the first class first, then the most GPUs, then the highest value. A running
/// job that keeps a row goes before all of them, and leaves its nodes only when it has others. Each
/// is placed as the stage place would; a running job goes to nodes that it holds before others. On
/// more nodes than necessary a row is worth what the job gains there.
void place_trades(const MarketOutcome& outcome, Trades& trades);

}  // namespace rubato
