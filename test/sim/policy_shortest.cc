// SPDX-License-Identifier: GPL-2.0-or-later
// Shortest remaining work first, on the first GPU type with room. Running jobs stay unchanged.
#include <algorithm>

#include "lib/sim/engine/policy_help.h"

namespace rubato::sim {
namespace {

class Shortest final : public Policy {
 public:
  [[nodiscard]] std::vector<Grant> decide(const PolicyState& state) override {
    std::vector<Grant> grants = as_it_is(state);  // one per entry of state.jobs
    std::vector<std::size_t> order(state.jobs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(
        order, {}, [&](std::size_t i) { return state.jobs[i].job->work - state.jobs[i].done; });
    NodePool pool = free_pool(state, true);
    for (const std::size_t i : order) {
      const JobView& view = state.jobs[i];
      if (grants[i].holds()) continue;
      for (const TypeIndex type : state.cluster.type_indices()) {
        if (!(speed(state, view, type, view.job->gpus) > 0)) continue;
        auto where = find_running(state, view, pool, type, view.job->gpus);
        if (!where || !pool.take(type, *where, per_gpu(*view.job))) continue;
        grants[i].type = type;
        grants[i].gpus = view.job->gpus;
        grants[i].where = std::move(*where);
        break;
      }
    }
    return grants;
  }
};

}  // namespace

std::unique_ptr<Policy> make_shortest(const PolicyContext& /*context*/) {
  return std::make_unique<Shortest>();
}

}  // namespace rubato::sim
