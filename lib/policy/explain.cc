// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/explain.h"

#include "lib/policy/algorithms/explainer.h"

namespace rubato {

std::vector<Explanation> explain(const RoundInput& input, const Forecasts& forecasts,
                                 const PendingQueue& queue, const Capacity& capacity,
                                 const JobHistory& history, const Placements& placements) {
  Explainer explainer(input, forecasts, capacity, history, placements.reservations);
  std::vector<Explanation> explanations;
  explanations.reserve(queue.entries.size());
  for (const PendingEntry& entry : queue.entries) {
    const EntryOutcome& outcome = placements.outcomes[entry.order];
    explanations.push_back(explainer.explain(entry, outcome));
  }
  return explanations;
}

}  // namespace rubato
