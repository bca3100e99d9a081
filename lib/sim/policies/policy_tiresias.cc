// SPDX-License-Identifier: GPL-2.0-or-later
// Tiresias (Gu et al., NSDI 2019, section 3): discretised two-dimensional attained service. Queues
// by attained GPU-seconds, each in the order of arrival. In a queue, running jobs go before waiting
// ones. It ignores GPU types and never promotes a job, as its simulator by default.
#include <algorithm>
#include <array>

#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/policy_help.h"

namespace rubato::sim {
namespace {

/// A job with this many GPU-seconds moves to the next queue: the defaults of its simulator.
constexpr std::array<double, 2> kLimits{3250, 7200};

std::size_t queue_of(double gpu_seconds) {
  std::size_t queue = 0;
  while (queue < kLimits.size() && gpu_seconds >= kLimits[queue]) ++queue;
  return queue;
}

class Tiresias final : public Policy {
 public:
  explicit Tiresias(const PolicyContext& context) : order_(context) {}

  [[nodiscard]] std::vector<Grant> decide(const PolicyState& state) override {
    std::vector<std::size_t> order(state.jobs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
      const JobView& view = state.jobs[i];
      return std::pair(queue_of(view.gpu_seconds), !view.now.holds());
    });
    NodePool pool = free_pool(state, false);
    std::vector<Grant> grants(state.jobs.size());
    wake_ = kNever;
    for (const std::size_t i : order) {
      const JobView& view = state.jobs[i];
      grants[i] = place(state, view, pool);  // no room blocks only this job
      if (!grants[i].holds()) continue;
      const std::size_t queue = queue_of(view.gpu_seconds);
      if (queue == kLimits.size()) continue;
      const double left = (kLimits[queue] - view.gpu_seconds) / view.job->gpus;
      wake_ = std::min(wake_, state.now + std::max(left, 1.0));
    }
    return grants;
  }

  // NOLINTNEXTLINE(bugprone-narrowing-conversions): kNever is a double, an infinite one
  [[nodiscard]] double wake(double now) const override { return wake_ > now ? wake_ : kNever; }

 private:
  /// On its current nodes, else on the first type with room.
  [[nodiscard]] Grant place(const PolicyState& state, const JobView& view, NodePool& pool) const {
    if (view.now.holds() && pool.take(view.now.type, view.now.where, per_gpu(*view.job))) {
      return view.now;
    }
    for (const TypeIndex type : order_.of(view.index)) {
      if (!may_use(*view.job, state.cluster, type)) continue;
      // Skip types on which the job cannot run, although the policy ignores speeds.
      if (state.truth != nullptr && !(speed(state, view, type, view.job->gpus) > 0)) continue;
      auto where = pool.find(type, view.job->gpus, per_gpu(*view.job));
      if (!where || !pool.take(type, *where, per_gpu(*view.job))) continue;
      Grant grant;
      grant.type = type;
      grant.gpus = view.job->gpus;
      grant.where = std::move(*where);
      return grant;
    }
    return {};
  }

  TypeOrder order_;
  double wake_ = kNever;
};

}  // namespace

std::unique_ptr<Policy> make_tiresias(const PolicyContext& context) {
  return std::make_unique<Tiresias>(context);
}

}  // namespace rubato::sim
