// SPDX-License-Identifier: GPL-2.0-or-later
// EASY backfill (Lifka 1995), with Slurm's default interval, window and number of jobs. Jobs go in
// the order of arrival. The first job without room gets a start time from the time limits of
// running jobs. Later jobs may start if they end before it, or leave it the GPUs it needs.
#include <algorithm>

#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/policy_help.h"

namespace rubato::sim {
namespace {

constexpr double kInterval = 30;       ///< bf_interval
constexpr std::size_t kMaxJobs = 500;  ///< bf_max_job_test
constexpr double kWindow = 24 * 3600;  ///< bf_window

class Easy final : public Policy {
 public:
  explicit Easy(const PolicyContext& context) : order_(context) {}

  [[nodiscard]] std::vector<Grant> decide(const PolicyState& state) override {
    std::vector<Grant> grants = as_it_is(state);
    NodePool pool = free_pool(state, true);
    waiting_ = false;
    std::optional<Promise> first;
    std::size_t tested = 0;
    for (std::size_t i = 0; i < state.jobs.size(); ++i) {
      if (grants[i].holds()) continue;
      const JobView& view = state.jobs[i];
      if (++tested > kMaxJobs) break;
      grants[i] = first ? behind(state, view, pool, *first) : in_turn(state, view, pool);
      if (grants[i].holds()) {
        if (!pool.take(grants[i].type, grants[i].where, per_gpu(*view.job))) grants[i] = {};
        continue;
      }
      waiting_ = true;
      if (!first) first = promise(state, grants, view, pool);
    }
    return grants;
  }

  /// Backfill runs again while a job waits.
  [[nodiscard]] double wake(double now) const override {
    return waiting_ ? now + kInterval : kNever;
  }

 private:
  /// The reservation of the first job in the queue.
  struct Promise {
    TypeIndex type;
    double start = kNever;
    int spare = 0;  ///< GPUs of the type that stay free then
  };

  [[nodiscard]] Grant in_turn(const PolicyState& state, const JobView& view,
                              const NodePool& pool) const {
    for (const TypeIndex type : order_.of(view.index)) {
      if (!(speed(state, view, type, view.job->gpus) > 0)) continue;
      if (auto where = find_running(state, view, pool, type, view.job->gpus)) {
        return {type, view.job->gpus, std::move(*where), 0, ""};
      }
    }
    return {};
  }

  [[nodiscard]] Grant behind(const PolicyState& state, const JobView& view, const NodePool& pool,
                             Promise& first) const {
    for (const TypeIndex type : order_.of(view.index)) {
      if (!(speed(state, view, type, view.job->gpus) > 0)) continue;
      const bool over = state.now + view.limit <= first.start;
      if (type == first.type && !over && view.job->gpus > first.spare) continue;
      auto where = find_running(state, view, pool, type, view.job->gpus);
      if (!where) continue;
      if (type == first.type && !over) first.spare -= view.job->gpus;
      return {type, view.job->gpus, std::move(*where), 0, ""};
    }
    return {};
  }

  /// The type on which it starts first if all jobs run up to their limits.
  [[nodiscard]] std::optional<Promise> promise(const PolicyState& state,
                                               const std::vector<Grant>& grants,
                                               const JobView& first, const NodePool& pool) const {
    std::optional<Promise> best;
    for (const TypeIndex type : order_.of(first.index)) {
      if (!(speed(state, first, type, first.job->gpus) > 0)) continue;
      std::vector<std::pair<double, int>> ends;
      for (std::size_t i = 0; i < grants.size(); ++i) {
        const JobView& view = state.jobs[i];
        if (!grants[i].holds() || grants[i].type != type) continue;
        const double end = state.now + view.limit - view.ran_s;
        ends.emplace_back(std::max(end, state.now), grants[i].gpus);
      }
      std::sort(ends.begin(), ends.end());
      int free = pool.free(type);
      double start = state.now;
      for (const auto& [end, gpus] : ends) {
        if (free >= first.job->gpus) break;
        free += gpus;
        start = end;
      }
      if (free < first.job->gpus || start > state.now + kWindow) continue;
      if (!best || start < best->start) best = Promise{type, start, free - first.job->gpus};
    }
    return best;
  }

  TypeOrder order_;
  bool waiting_ = false;
};

}  // namespace

std::unique_ptr<Policy> make_easy(const PolicyContext& context) {
  return std::make_unique<Easy>(context);
}

}  // namespace rubato::sim
