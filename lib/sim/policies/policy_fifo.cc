// SPDX-License-Identifier: GPL-2.0-or-later
// First in, first out: jobs start in the order of arrival with what they request. The first job
// without room blocks the others. Running jobs stay unchanged.
#include "lib/sim/engine/policy_help.h"

namespace rubato::sim {
namespace {

class Fifo final : public Policy {
 public:
  /// `fastest`: take the fastest type with room; else the first of a random order with room.
  Fifo(const PolicyContext& context, bool fastest)
      : fastest_(fastest), by_shape_(types_by_shape(context.cluster)), order_(context) {}

  [[nodiscard]] std::vector<Grant> decide(const PolicyState& state) override {
    std::vector<Grant> grants = as_it_is(state);
    NodePool pool = free_pool(state, true);
    for (std::size_t i = 0; i < state.jobs.size(); ++i) {
      if (grants[i].holds()) continue;
      const JobView& view = state.jobs[i];
      grants[i] = best(state, view, pool);
      if (!grants[i].holds()) {
        if (can_ever(state, view)) break;
        continue;
      }
      if (!pool.take(grants[i].type, grants[i].where, per_gpu(*view.job))) grants[i] = {};
    }
    return grants;
  }

 private:
  [[nodiscard]] Grant best(const PolicyState& state, const JobView& view,
                           const NodePool& pool) const {
    Grant found;
    double throughput = 0;
    for (const TypeIndex type : fastest_ ? by_shape_ : order_.of(view.index)) {
      const double here = speed(state, view, type, view.job->gpus);
      if (!(here > throughput) || (found.holds() && !fastest_)) continue;
      auto where = find_running(state, view, pool, type, view.job->gpus);
      if (!where) continue;
      throughput = here;
      found.type = type;
      found.gpus = view.job->gpus;
      found.where = std::move(*where);
    }
    return found;
  }

  [[nodiscard]] static bool can_ever(const PolicyState& state, const JobView& view) {
    for (const TypeIndex type : state.cluster.type_indices()) {
      if (speed(state, view, type, view.job->gpus) > 0) return true;
    }
    return false;
  }

  bool fastest_;
  std::vector<TypeIndex> by_shape_;
  TypeOrder order_;
};

}  // namespace

std::unique_ptr<Policy> make_fifo(const PolicyContext& context) {
  return std::make_unique<Fifo>(context, false);
}
std::unique_ptr<Policy> make_fifo_het(const PolicyContext& context) {
  return std::make_unique<Fifo>(context, true);
}

}  // namespace rubato::sim
