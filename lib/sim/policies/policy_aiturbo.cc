// SPDX-License-Identifier: GPL-2.0-or-later
// AITurbo (Zhao et al., HPDC 2021). Jobs with a forecast have two ranks: by attained service, and
// by the resource time that one worker or server more or less would save. Other jobs rank by
// attained service alone. The sum of ranks (Borda) assigns three queues. Parameter servers run on
// cores. Every 240 s sizes change by one step. In between, jobs that arrive or end cause a round
// without size changes. For one GPU type.
//
// The authors' follow-on code differs from the abstract: constant ranks, the smallest gain first,
// all jobs restarted at each round. This code follows the abstract.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/policy_help.h"
#include "lib/sim/engine/step_truth.h"

namespace rubato::sim {
namespace {

constexpr double kPeriod = 240;
/// Cores that count for a GPU, and cores of each worker and each server.
constexpr double kCoresOfGpu = 10;
constexpr int kCoresOfPod = 5;
constexpr int kMaxServers = 10;
/// A Borda sum below the first limit means the first queue, below the second limit the second.
constexpr double kFirstQueue = 30;
constexpr double kSecondQueue = 180;

struct Size {
  int servers = 0;
  int workers = 0;

  bool operator==(const Size&) const = default;
};

double cores_of(const Size& size) {
  return kCoresOfGpu * size.workers + kCoresOfPod * (size.servers + size.workers);
}

class AiTurbo final : public Policy {
 public:
  explicit AiTurbo(std::uint64_t seed) : seed_(seed) {}

  [[nodiscard]] double wake(double /*now*/) const override { return last_full_ + kPeriod; }

  [[nodiscard]] std::vector<Grant> decide(const PolicyState& state) override {
    serve(state);
    const bool full = state.now >= last_full_ + kPeriod;
    if (full) {
      last_full_ = state.now;
      rank_gains(state);
    }
    std::vector<Grant> grants = select(state, full);
    settle(state, grants);
    for (std::size_t i = 0; i < grants.size(); ++i) {
      Known& known = jobs_.at(state.jobs[i].index);
      if (!grants[i].holds()) known.target = known.size;
    }
    return grants;
  }

 private:
  struct Known {
    Size size;    ///< current size, or size at start
    Size target;  ///< size after the next full round
    double service = 0;
    bool forecast = false;  ///< promoted: its remaining time is known
    int gain_rank = 0;
  };

  static bool has_servers(const SimJob& job) { return job.step && job.servers > 0; }

  static Size requested(const SimJob& job) {
    return {job.step ? job.servers : 0, job.step ? job.gpus - job.servers : job.gpus};
  }

  static Grant grant_of(const SimJob& job, const Size& size) {
    Grant grant;
    grant.type = 0;
    grant.gpus = size.workers;
    if (!has_servers(job)) return grant;
    grant.plan = servers_plan(size.servers);
    grant.cores_per_gpu =
        (job.cores_per_gpu * (size.workers + size.servers) + size.workers - 1) / size.workers;
    return grant;
  }

  /// Adds attained service since the last round, in core seconds; registers new jobs.
  void serve(const PolicyState& state) {
    for (const JobView& view : state.jobs) {
      const auto [at, fresh] = jobs_.try_emplace(view.index);
      Known& known = at->second;
      if (fresh) known.size = known.target = requested(*view.job);
      if (view.now.holds()) known.service += cores_of(known.size) * (state.now - last_);
    }
    last_ = state.now;
  }

  /// Remaining resource time at a size; remaining time if no job waits. Infinity: not possible.
  [[nodiscard]] double left(const PolicyState& state, const JobView& view, const Size& size,
                            bool contended) const {
    const SimJob& job = *view.job;
    const int workers_least = std::max(1, job.min_gpus - requested(job).servers);
    const int workers_most = job.max_gpus - requested(job).servers;
    const bool listed = job.sizes.empty() || std::find(job.sizes.begin(), job.sizes.end(),
                                                       size.workers) != job.sizes.end();
    if (size.workers < workers_least || size.workers > workers_most || !listed ||
        size.servers > kMaxServers || (has_servers(job) && size.servers < 1)) {
      return kNever;
    }
    Setting setting = packed(state.cluster, 0, size.workers);
    if (has_servers(job)) setting.plan = servers_plan(size.servers);
    const double throughput = state.truth->throughput(job, setting, view.done);
    if (!(throughput > 0) || size.workers > state.cluster.gpus(0)) return kNever;
    const double seconds =
        (job.work - view.done) / throughput * forecast_factor(job, seed_, view.index);
    return contended ? seconds * cores_of(size) : seconds;
  }

  /// The best size that is one step away.
  [[nodiscard]] std::pair<double, Size> best_of(const PolicyState& state, const JobView& view,
                                                int step, bool contended) const {
    const Size now = jobs_.at(view.index).size;
    std::vector<Size> sizes{{now.servers, now.workers + step}};
    if (has_servers(*view.job)) sizes.push_back({now.servers + step, now.workers});
    std::pair<double, Size> best{kNever, now};
    for (const Size& size : sizes) {
      const double here = left(state, view, size, contended);
      if (here < best.first) best = {here, size};
    }
    return best;
  }

  /// Makes two lists: jobs that gain by growing and by shrinking, largest gain first. Stores the
  /// new size; a job keeps its size if no change gains.
  void rank_gains(const PolicyState& state) {
    struct SizeGain {
      double value = 0;
      JobIndex job = 0;
    };
    std::vector<SizeGain> more;
    std::vector<SizeGain> less;
    const bool contended = std::any_of(state.jobs.begin(), state.jobs.end(),
                                       [](const JobView& view) { return !view.now.holds(); });
    for (const JobView& view : state.jobs) {
      Known& known = jobs_.at(view.index);
      known.target = known.size;
      // A job has no forecast before it runs.
      if (view.started && view.job->predictable) known.forecast = true;
      if (!known.forecast) continue;
      const double now = left(state, view, known.size, contended);
      const auto up = best_of(state, view, 1, contended);
      const auto down = best_of(state, view, -1, contended);
      const bool grows = now - up.first > now - down.first;
      const auto& best = grows ? up : down;
      const double gain = best.first < kNever ? now - best.first : -kNever;
      if (gain > 0 && !(view.cost_left > 0)) known.target = best.second;
      (grows ? more : less).push_back({gain, view.index});
    }
    for (std::vector<SizeGain>* list : {&more, &less}) {
      std::stable_sort(list->begin(), list->end(),
                       [](const SizeGain& a, const SizeGain& b) { return a.value > b.value; });
      int rank = 0;
      for (const SizeGain& gain : *list) jobs_.at(gain.job).gain_rank = rank++;
    }
  }

  /// Indices of jobs in the order in which they may run.
  [[nodiscard]] std::vector<std::size_t> order_of(const PolicyState& state) const {
    std::vector<std::size_t> order(state.jobs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto known = [&](std::size_t i) -> const Known& { return jobs_.at(state.jobs[i].index); };
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return known(i).service; });
    std::vector<std::pair<int, double>> place(order.size());
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      const Known& job = known(order[rank]);
      const auto served = static_cast<double>(rank);
      const double sum = served + (job.forecast ? job.gain_rank : served);
      const int queue = sum < kFirstQueue ? 0 : sum < kSecondQueue ? 1 : 2;
      // Never stop a starting job, or it could start again and again.
      const bool starting = state.jobs[order[rank]].cost_left > 0;
      place[order[rank]] = {starting ? -1 : queue, sum};
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return place[i]; });
    return order;
  }

  /// Starts jobs that fit, in order; a job without room does not block later ones. A job that does
  /// not fit with its new size may fit with its old one.
  [[nodiscard]] std::vector<Grant> select(const PolicyState& state, bool full) {
    std::vector<Grant> grants(state.jobs.size());
    NodePool pool = free_pool(state, false);
    for (const std::size_t i : order_of(state)) {
      const JobView& view = state.jobs[i];
      Known& known = jobs_.at(view.index);
      if (!may_use(*view.job, state.cluster, 0)) continue;
      for (const Size& size : {full ? known.target : known.size, known.size}) {
        Grant grant = grant_of(*view.job, size);
        const PerGpu each = per_gpu(*view.job, grant);
        auto where = pool.find(0, grant.gpus, each);
        if (!where || !pool.take(0, *where, each)) continue;
        known.size = size;
        grants[i] = std::move(grant);
        break;
      }
    }
    return grants;
  }

  std::uint64_t seed_;
  double last_full_ = -kPeriod;
  double last_ = 0;
  std::map<JobIndex, Known> jobs_;
};

}  // namespace

std::unique_ptr<Policy> make_aiturbo(const PolicyContext& context) {
  return std::make_unique<AiTurbo>(context.seed);
}

}  // namespace rubato::sim
