// SPDX-License-Identifier: GPL-2.0-or-later
// Backfill by the rules of slurmctld: sched/backfill of Slurm 22.05 with its default parameters,
// and priority/basic. Scheduling starts jobs in order of arrival at each arrival and end, until one
// does not fit. A backfill pass, each 30 s if something changed, gives each waiting job its
// earliest start by the time limits of running jobs. A job that cannot start now reserves its
// nodes, whole, for its time limit.
#include <algorithm>
#include <cmath>
#include <set>

#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/policy_help.h"

namespace rubato::sim {
namespace {

constexpr double kInterval = 30;       ///< bf_interval
constexpr double kResolution = 60;     ///< bf_resolution
constexpr std::size_t kMaxJobs = 500;  ///< bf_max_job_test
constexpr double kWindow = 24 * 3600;  ///< bf_window

/// The nodes of a group that a reservation keeps for a time.
struct Reservation {
  TypeIndex type;
  std::vector<GroupNodeIndex> nodes;
  double from = 0;
  double to = 0;
};

/// A running job as the pass sees it.
struct Release {
  double end = 0;
  TypeIndex type;
  std::vector<NodeGpus> where;
  PerGpu each;
};

struct Slot {
  TypeIndex type;
  double start = kNever;
  std::vector<NodeGpus> where;
};

class Backfill final : public Policy {
 public:
  explicit Backfill(const PolicyContext& context) : order_(context) {}

  [[nodiscard]] std::vector<Grant> decide(const PolicyState& state) override {
    std::vector<Grant> grants = as_it_is(state);
    NodePool pool = free_pool(state, true);
    schedule(state, grants, pool);
    if (state.now >= next_pass_ || std::fmod(state.now, kInterval) == 0) {
      pass(state, grants, pool);
      next_pass_ = kNever;
    } else {
      const bool wait = std::ranges::any_of(grants, [](const Grant& one) { return !one.holds(); });
      next_pass_ = wait ? (std::floor(state.now / kInterval) + 1) * kInterval : kNever;
    }
    return grants;
  }

  [[nodiscard]] double wake(double /*now*/) const override { return next_pass_; }

 private:
  /// Room for the job in `pool`, on nodes that are not in `kept`.
  static std::optional<std::vector<NodeGpus>> room(const PolicyState& state, const JobView& view,
                                                   const NodePool& pool, TypeIndex type,
                                                   const std::set<GroupNodeIndex>& kept) {
    const SimJob& job = *view.job;
    if (job.nodes == 0 || job.gpus % job.nodes != 0) {
      if (kept.empty()) return find_running(state, view, pool, type, job.gpus);
      NodePool others = pool;
      for (const GroupNodeIndex node : kept) others.set_up(type, node, false);
      return find_running(state, view, others, type, job.gpus);
    }
    const int each = job.gpus / job.nodes;
    std::vector<NodeGpus> where;
    for (const GroupNodeIndex node : state.cluster.groups[type].node_indices()) {
      if (kept.contains(node) || pool.room(type, node, per_gpu(job)) < each) continue;
      where.push_back({node, each});
      if (static_cast<int>(where.size()) == job.nodes) return where;
    }
    return std::nullopt;
  }

  static bool start(const JobView& view, Grant& grant, NodePool& pool, TypeIndex type,
                    std::vector<NodeGpus> where) {
    if (!pool.take(type, where, per_gpu(*view.job))) return false;
    grant = {type, view.job->gpus, std::move(where), 0, ""};
    return true;
  }

  void schedule(const PolicyState& state, std::vector<Grant>& grants, NodePool& pool) const {
    for (std::size_t i = 0; i < grants.size(); ++i) {
      if (grants[i].holds()) continue;
      const JobView& view = state.jobs[i];
      bool can = false;
      for (const TypeIndex type : order_.of(view.index)) {
        if (grants[i].holds() || !view.fits(type)) continue;
        can = true;
        auto where = room(state, view, pool, type, {});
        if (where) start(view, grants[i], pool, type, std::move(*where));
      }
      if (can && !grants[i].holds()) return;
    }
  }

  [[nodiscard]] bool has_room(const PolicyState& state, const JobView& view,
                              const NodePool& pool) const {
    for (const TypeIndex type : order_.of(view.index)) {
      if (view.fits(type) && room(state, view, pool, type, {})) return true;
    }
    return false;
  }

  void pass(const PolicyState& state, std::vector<Grant>& grants, NodePool& pool) const {
    std::vector<Release> releases;  // sorted by end
    for (std::size_t i = 0; i < grants.size(); ++i) {
      if (grants[i].holds()) add_release(state, state.jobs[i], grants[i], releases);
    }
    // Reservations behind the last job that could start now change nothing.
    std::size_t end = 0;
    std::size_t tested = 0;
    for (std::size_t i = 0; i < grants.size() && tested < kMaxJobs; ++i) {
      if (grants[i].holds()) continue;
      ++tested;
      if (has_room(state, state.jobs[i], pool)) end = i + 1;
    }
    std::vector<Reservation> reserved;
    for (std::size_t i = 0; i < end; ++i) {
      if (grants[i].holds()) continue;
      const JobView& view = state.jobs[i];
      Slot best;
      for (const TypeIndex type : order_.of(view.index)) {
        if (!view.fits(type)) continue;
        if (auto slot = earliest(state, view, type, pool, releases, reserved);
            slot.start < best.start) {
          best = std::move(slot);
        }
      }
      if (best.start == state.now) {
        if (start(view, grants[i], pool, best.type, std::move(best.where))) {
          add_release(state, view, grants[i], releases);
        }
      } else if (best.start < kNever) {
        reserve(state, view, best, reserved);
      }
    }
  }

  static void add_release(const PolicyState& state, const JobView& view, const Grant& grant,
                          std::vector<Release>& releases) {
    const double end = state.now + view.limit - view.ran_s;
    Release one{std::max(end, state.now + 1), grant.type, grant.where, per_gpu(*view.job, grant)};
    const auto at = std::ranges::upper_bound(releases, one.end, {}, &Release::end);
    releases.insert(at, std::move(one));
  }

  static void reserve(const PolicyState& state, const JobView& view, const Slot& slot,
                      std::vector<Reservation>& reserved) {
    Reservation one;
    one.type = slot.type;
    for (const NodeGpus& part : slot.where) one.nodes.push_back(part.node);
    one.from = std::floor(slot.start / kResolution) * kResolution;
    one.to = std::ceil((slot.start + view.limit) / kResolution) * kResolution;
    reserved.push_back(std::move(one));
  }

  static Slot earliest(const PolicyState& state, const JobView& view, TypeIndex type,
                       const NodePool& pool, const std::vector<Release>& releases,
                       const std::vector<Reservation>& reserved) {
    std::set<double> starts{state.now};
    for (const Release& one : releases) {
      if (one.type == type) starts.insert(one.end);
    }
    for (const Reservation& one : reserved) {
      if (one.type == type) starts.insert(one.to);
    }
    const double length = view.limit;
    NodePool later = pool;
    auto released = releases.begin();
    for (const double at : starts) {
      if (at > state.now + kWindow) break;
      for (; released != releases.end() && released->end <= at; ++released) {
        if (released->type == type) later.give(type, released->where, released->each);
      }
      if (later.free(type) < view.job->gpus) continue;
      std::set<GroupNodeIndex> kept;
      for (const Reservation& one : reserved) {
        if (one.type == type && one.from < at + length && one.to > at) {
          kept.insert(one.nodes.begin(), one.nodes.end());
        }
      }
      if (auto where = room(state, view, later, type, kept)) return {type, at, std::move(*where)};
    }
    return {};
  }

  TypeOrder order_;
  double next_pass_ = kNever;
};

}  // namespace

std::unique_ptr<Policy> make_backfill(const PolicyContext& context) {
  return std::make_unique<Backfill>(context);
}

}  // namespace rubato::sim
