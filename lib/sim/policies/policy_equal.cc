// SPDX-License-Identifier: GPL-2.0-or-later
// Equal share: every ten minutes all jobs get the same number of GPUs, as far as they can use them.
// A new job joins the GPU type with most GPUs per job, and stays there. A job that cannot run with
// its share gets its fewest GPUs, in the order of arrival.
#include <algorithm>
#include <map>
#include <optional>

#include "lib/sim/engine/policy_help.h"

namespace rubato::sim {
namespace {

constexpr double kPeriod = 600;

class Equal final : public Policy {
 public:
  explicit Equal(const PolicyContext& context) : types_(types_by_shape(context.cluster)) {}

  [[nodiscard]] double period() const override { return kPeriod; }

  [[nodiscard]] std::vector<Grant> decide(const PolicyState& state) override {
    std::vector<Grant> grants(state.jobs.size());
    const NodePool pool = free_pool(state, false);
    choose_types(state);
    for (const TypeIndex type : state.cluster.type_indices())
      share(state, type, pool.free(type), grants);
    settle(state, grants);
    return grants;
  }

 private:
  static bool has_size(const PolicyState& state, const JobView& view, TypeIndex type, int gpus) {
    const SimJob& job = *view.job;
    if (gpus < job.min_gpus || gpus > job.max_gpus) return false;
    if (!job.sizes.empty() &&
        std::find(job.sizes.begin(), job.sizes.end(), gpus) == job.sizes.end())
      return false;
    return speed(state, view, type, gpus) > 0;
  }

  /// The next size above `gpus`; nullopt: there is none.
  static std::optional<int> above(const PolicyState& state, const JobView& view, TypeIndex type,
                                  int gpus) {
    const int most = std::min(view.job->max_gpus, state.cluster.gpus(type));
    for (int size = gpus + 1; size <= most; ++size) {
      if (has_size(state, view, type, size)) return size;
    }
    return std::nullopt;
  }

  void choose_types(const PolicyState& state) {
    std::vector<int> jobs(state.cluster.types(), 0);
    for (const JobView& view : state.jobs) {
      const auto known = type_.find(view.index);
      if (known != type_.end() && known->second.valid()) ++jobs[known->second];
    }
    for (const JobView& view : state.jobs) {
      if (type_.contains(view.index)) continue;
      TypeIndex best;
      double room = 0;
      for (const TypeIndex type : types_) {
        if (!above(state, view, type, 0)) continue;
        const double here = static_cast<double>(state.cluster.gpus(type)) / (jobs[type] + 1);
        if (!(here > room)) continue;
        room = here;
        best = type;
      }
      type_.emplace(view.index, best);
      if (best.valid()) ++jobs[best];
    }
  }

  /// Each job first gets its fewest GPUs. Then the job with the fewest grows by one step, again and
  /// again.
  void share(const PolicyState& state, TypeIndex type, int free, std::vector<Grant>& grants) const {
    std::vector<std::size_t> growing;
    for (std::size_t i = 0; i < grants.size(); ++i) {
      if (type_.at(state.jobs[i].index) != type) continue;
      const auto fewest = above(state, state.jobs[i], type, 0);
      if (!fewest || *fewest > free) continue;
      grants[i].type = type;
      grants[i].gpus = *fewest;
      free -= *fewest;
      growing.push_back(i);
    }
    while (!growing.empty() && free > 0) {
      const auto least = std::min_element(
          growing.begin(), growing.end(),
          [&](std::size_t a, std::size_t b) { return grants[a].gpus < grants[b].gpus; });
      Grant& grant = grants[*least];
      const auto next = above(state, state.jobs[*least], type, grant.gpus);
      if (!next || *next - grant.gpus > free) {
        growing.erase(least);
        continue;
      }
      free -= *next - grant.gpus;
      grant.gpus = *next;
    }
  }

  std::vector<TypeIndex> types_;
  std::map<JobIndex, TypeIndex> type_;  ///< of each job; not valid(): it fits none
};

}  // namespace

std::unique_ptr<Policy> make_equal(const PolicyContext& context) {
  return std::make_unique<Equal>(context);
}

}  // namespace rubato::sim
