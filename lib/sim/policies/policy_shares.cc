// SPDX-License-Identifier: GPL-2.0-or-later
// Gavel's policies outside its own simulator. Every 360 s shares of all jobs are computed. GPUs go
// to jobs with the largest share relative to the time they had (Narayanan et al., OSDI 2020).
#include <algorithm>
#include <map>
#include <numeric>

#include "lib/sim/engine/policy_help.h"
#include "lib/sim/policies/shares.h"

namespace rubato::sim {
namespace {

constexpr double kRound = 360;

class SharePolicy final : public Policy {
 public:
  SharePolicy(ShareRule rule, const ClusterShape& cluster)
      : rule_(rule), types_(types_by_shape(cluster)), total_(cluster.types(), 0.0) {
    for (const TypeIndex type : types_) gpus_.push_back(cluster.gpus(type));
  }

  [[nodiscard]] double period() const override { return kRound; }

  [[nodiscard]] std::vector<Grant> decide(const PolicyState& state) override {
    std::vector<ShareJob> jobs;
    for (const JobView& view : state.jobs) {
      ShareJob job;
      job.gpus = view.job->gpus;
      job.weight = view.job->weight;
      job.remaining = view.job->work - view.done;
      for (const TypeIndex type : types_) {
        job.throughputs.push_back(speed(state, view, type, job.gpus));
      }
      jobs.push_back(std::move(job));
      if (had_.emplace(view.index, std::vector<double>(gpus_.size(), kRound / 2)).second) {
        for (double& time : total_) time += kRound / 2;
      }
    }
    const auto found = shares(rule_, jobs, gpus_);
    if (!found) return as_it_is(state);
    return select(state, jobs, *found);
  }

 private:
  struct Entry {
    double priority = 0;
    double share = 0;
    std::size_t job = 0;
    std::size_t column = 0;  ///< of types_
  };

  std::vector<Grant> select(const PolicyState& state, const std::vector<ShareJob>& jobs,
                            const std::vector<std::vector<double>>& share) {
    std::vector<Entry> queue;
    for (std::size_t column = 0; column < types_.size(); ++column) {
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (!(jobs[i].throughputs[column] > 0)) continue;
        const double part = had_[state.jobs[i].index][column] / total_[column];
        queue.push_back({share[i][column] / part, share[i][column], i, column});
      }
    }
    std::stable_sort(queue.begin(), queue.end(), [](const Entry& a, const Entry& b) {
      return a.priority != b.priority ? a.priority > b.priority : a.share > b.share;
    });
    NodePool pool = free_pool(state, false);
    std::vector<Grant> grants(jobs.size());
    // Jobs that stay on their type keep their nodes: these are taken first.
    std::vector<int> free = gpus_of_up(pool);
    std::vector<std::size_t> columns(jobs.size());
    for (const Entry& entry : queue) {
      Grant& grant = grants[entry.job];
      int& left = free[entry.column];
      if (grant.holds() || jobs[entry.job].gpus > left) continue;
      grant.type = types_[entry.column];
      columns[entry.job] = entry.column;
      grant.gpus = jobs[entry.job].gpus;
      left -= grant.gpus;
    }
    place(state, pool, grants);
    for (std::size_t i = 0; i < grants.size(); ++i) {
      if (!grants[i].holds()) continue;
      had_[state.jobs[i].index][columns[i]] += kRound;
      total_[columns[i]] += kRound;
    }
    return grants;
  }

  [[nodiscard]] std::vector<int> gpus_of_up(const NodePool& pool) const {
    std::vector<int> free;
    free.reserve(types_.size());
    for (const TypeIndex type : types_) free.push_back(pool.free(type));
    return free;
  }

  /// First jobs that keep their nodes, then the others by size. A job without room waits.
  static void place(const PolicyState& state, NodePool& pool, std::vector<Grant>& grants) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < grants.size(); ++i) {
      const Grant& now = state.jobs[i].now;
      if (!grants[i].holds()) continue;
      if (now.type == grants[i].type && now.gpus == grants[i].gpus &&
          pool.take(now.type, now.where, per_gpu(*state.jobs[i].job))) {
        grants[i].where = now.where;
      } else {
        order.push_back(i);
      }
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return grants[a].gpus > grants[b].gpus; });
    for (const std::size_t i : order) {
      const PerGpu each = per_gpu(*state.jobs[i].job);
      auto where = pool.find(grants[i].type, grants[i].gpus, each);
      if (where && pool.take(grants[i].type, *where, each)) {
        grants[i].where = std::move(*where);
      } else {
        grants[i] = {};
      }
    }
  }

  ShareRule rule_;
  std::vector<TypeIndex> types_;  ///< of each column of the program
  std::vector<int> gpus_;
  std::vector<double> total_;
  std::map<JobIndex, std::vector<double>> had_;  ///< time on each type, plus half a round
};

std::unique_ptr<Policy> make(ShareRule rule, const PolicyContext& context) {
  return std::make_unique<SharePolicy>(rule, context.cluster);
}

}  // namespace

std::unique_ptr<Policy> make_las(const PolicyContext& context) {
  return make(ShareRule::kLasAgnostic, context);
}
std::unique_ptr<Policy> make_gavel_las(const PolicyContext& context) {
  return make(ShareRule::kLas, context);
}
std::unique_ptr<Policy> make_gavel_wf(const PolicyContext& context) {
  return make(ShareRule::kWaterFilling, context);
}
std::unique_ptr<Policy> make_gavel_maxsum(const PolicyContext& context) {
  return make(ShareRule::kMaxSum, context);
}
std::unique_ptr<Policy> make_gavel_makespan(const PolicyContext& context) {
  return make(ShareRule::kMakespan, context);
}

}  // namespace rubato::sim
