// SPDX-License-Identifier: GPL-2.0-or-later
// EASY backfill (Lifka 1995) with Slurm's default limits. Jobs go in the order of arrival. The
// first job without room gets a start time from the time limits of running jobs. Later jobs may
// start if they end before it, or leave it the GPUs it needs.
//
// A job without a time limit uses its true run time on a type, in whole minutes. This estimate is
// better than any user's.
#include <algorithm>
#include <cmath>

#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/policy_help.h"

namespace rubato::sim {
namespace {

constexpr double kInterval = 30;       ///< bf_interval
constexpr std::size_t kMaxJobs = 500;  ///< bf_max_job_test
constexpr double kWindow = 24 * 3600;  ///< bf_window
constexpr double kMinute = 60;

class Backfill final : public Policy {
 public:
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

  static double limit(const PolicyState& state, const JobView& view, TypeIndex type) {
    if (view.job->time_limit < kNever) return view.job->time_limit;
    const double left = seconds_left(state, view, type, view.job->gpus);
    return left < kNever ? std::ceil((left + view.job->start_s) / kMinute) * kMinute : kNever;
  }

  static Grant in_turn(const PolicyState& state, const JobView& view, const NodePool& pool) {
    for (const TypeIndex type : state.cluster.type_indices()) {
      if (!(speed(state, view, type, view.job->gpus) > 0)) continue;
      if (auto where = find_running(state, view, pool, type, view.job->gpus)) {
        return {type, view.job->gpus, std::move(*where), 0, ""};
      }
    }
    return {};
  }

  static Grant behind(const PolicyState& state, const JobView& view, const NodePool& pool,
                      Promise& first) {
    for (const TypeIndex type : state.cluster.type_indices()) {
      if (!(speed(state, view, type, view.job->gpus) > 0)) continue;
      const bool over = state.now + limit(state, view, type) <= first.start;
      if (type == first.type && !over && view.job->gpus > first.spare) continue;
      auto where = find_running(state, view, pool, type, view.job->gpus);
      if (!where) continue;
      if (type == first.type && !over) first.spare -= view.job->gpus;
      return {type, view.job->gpus, std::move(*where), 0, ""};
    }
    return {};
  }

  /// The type on which it starts first if all jobs run up to their limits.
  static std::optional<Promise> promise(const PolicyState& state, const std::vector<Grant>& grants,
                                        const JobView& first, const NodePool& pool) {
    std::optional<Promise> best;
    for (const TypeIndex type : state.cluster.type_indices()) {
      if (!(speed(state, first, type, first.job->gpus) > 0)) continue;
      std::vector<std::pair<double, int>> ends;
      for (std::size_t i = 0; i < grants.size(); ++i) {
        const JobView& view = state.jobs[i];
        if (!grants[i].holds() || grants[i].type != type) continue;
        double end = state.now + limit(state, view, type);
        if (view.job->time_limit < kNever) end -= view.ran_s;
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

  bool waiting_ = false;
};

}  // namespace

std::unique_ptr<Policy> make_backfill(const PolicyContext& /*context*/) {
  return std::make_unique<Backfill>();
}

}  // namespace rubato::sim
