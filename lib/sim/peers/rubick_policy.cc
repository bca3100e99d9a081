// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/rubick_policy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace rubato::sim {
namespace {

constexpr double kStarving = 200'000;  ///< seconds; jobs older than this come last
constexpr int kEmptied = 32;
constexpr int kMaxRestarts = 7;
constexpr int kManyGuaranteed = 12;  ///< with more of them active, restarts are unlimited
constexpr double kNearEnough = 1.5;  ///< tolerated ratio of promise to throughput

class Round {
 public:
  Round(std::vector<RubickView>& jobs, int node_gpus) : jobs_(jobs) {
    free_.assign(jobs.empty() ? 0 : jobs.front().gpus.size(), node_gpus);
    for (const RubickView& job : jobs) {
      for (const auto n : indices<GroupNodeIndex>(free_)) free_[n] -= job.gpus[n];
    }
  }

  void run() {
    const std::vector<std::size_t> by_slopes = by_slope();
    // Jobs with a promise first.
    std::vector<std::size_t> order = by_slopes;
    std::stable_partition(order.begin(), order.end(),
                          [&](std::size_t j) { return jobs_[j].promised > 0; });
    const auto promised = std::count_if(jobs_.begin(), jobs_.end(),
                                        [](const RubickView& job) { return job.promised > 0; });
    for (RubickView& job : jobs_) {
      const bool may = job.restarts < kMaxRestarts || promised > kManyGuaranteed;
      if (job.kind->large() && held(job) >= kEmptied && may) empty(job);
    }
    for (const std::size_t j : order) {
      if (jobs_[j].kind->large()) {
        take_first_shape(jobs_[j]);
      } else {
        grow_on_a_node(jobs_[j]);
      }
    }
    // The artifact lets large jobs grow by slope alone.
    for (const std::size_t j : by_slopes) {
      if (jobs_[j].kind->large()) take_largest(jobs_[j]);
    }
  }

 private:
  static int held(const RubickView& job) {
    return std::accumulate(job.gpus.begin(), job.gpus.end(), 0);
  }

  static double slope(const RubickView& job) {
    const RubickKind& kind = *job.kind;
    if (job.age > kStarving) return 1e9;
    if (!job.seen) return kind.throughput(1) / kind.reference;
    const int now = held(job);
    return std::abs(kind.throughput(now) - kind.throughput(std::min(now + 1, 8))) / kind.reference;
  }

  /// By ascending slope.
  [[nodiscard]] std::vector<std::size_t> by_slope() const {
    std::vector<double> slopes;
    for (const RubickView& job : jobs_) slopes.push_back(slope(job));
    std::vector<std::size_t> order(jobs_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t j) { return slopes[j]; });
    return order;
  }

  void empty(RubickView& job) {
    for (const auto n : indices<GroupNodeIndex>(free_)) free_[n] += std::exchange(job.gpus[n], 0);
  }

  /// A job with GPUs uses its own node only; another job uses the node with most free GPUs. The
  /// artifact tries the other nodes too, in order of free GPUs, but a guaranteed job that rejects
  /// the first rejects all: the predicted throughput never falls with the number of GPUs.
  void grow_on_a_node(RubickView& job) {
    const auto own = std::ranges::find_if(job.gpus, [](int gpus) { return gpus > 0; });
    const GroupNodeIndex node{own != job.gpus.end()
                                  ? own - job.gpus.begin()
                                  : std::ranges::max_element(free_) - free_.begin()};
    if (free_[node] <= 0) return;
    const int now = job.gpus[node];
    const int most = rubick_used(free_[node] + now);
    if (kNearEnough * job.kind->throughput(most) < job.promised) return;  // too few for it
    job.gpus[node] = most;
    free_[node] -= most - now;
  }

  [[nodiscard]] bool fits(const RubickShape& shape) const {
    return std::ranges::count_if(free_, [&](int free) { return free >= shape.gpus; }) >=
           shape.nodes;
  }

  void place(RubickView& job, const RubickShape& shape) {
    int left = shape.nodes;
    for (const auto n : indices<GroupNodeIndex>(free_)) {
      if (left == 0) break;
      if (free_[n] < shape.gpus) continue;
      job.gpus[n] = shape.gpus;
      free_[n] -= shape.gpus;
      --left;
    }
  }

  /// Places the first shape that fits the currently free GPUs, without the job's own.
  void take_first_shape(RubickView& job) {
    const auto shape =
        std::ranges::find_if(job.kind->shapes, [&](const RubickShape& s) { return fits(s); });
    if (shape == job.kind->shapes.end()) return;
    const RubickView before = job;
    std::ranges::fill(job.gpus, 0);
    place(job, *shape);
    for (const auto n : indices<GroupNodeIndex>(free_)) free_[n] += before.gpus[n];
  }

  /// Places the largest shape that fits the free GPUs and the job's own; keeps the old one if none
  /// fits.
  void take_largest(RubickView& job) {
    std::vector<RubickShape> shapes = job.kind->shapes;
    std::ranges::stable_sort(shapes, std::greater<>(),
                             [](const RubickShape& s) { return s.nodes * s.gpus; });
    const RubickView before = job;
    empty(job);
    for (const RubickShape& shape : shapes) {
      if (!fits(shape)) continue;
      place(job, shape);
      return;
    }
    job.gpus = before.gpus;
    for (const auto n : indices<GroupNodeIndex>(free_)) free_[n] -= job.gpus[n];
  }

  std::vector<RubickView>& jobs_;
  std::vector<int> free_;
};

}  // namespace

void rubick_round(std::vector<RubickView>& jobs, int node_gpus) { Round(jobs, node_gpus).run(); }

}  // namespace rubato::sim
