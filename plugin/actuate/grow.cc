// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/actuate/grow.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "plugin/actuate/scoped_start.h"
#include "plugin/actuate/start.h"

namespace rubato {

namespace {

/// Helper jobs. Those that were not merged end with it.
class Helpers {
 public:
  Helpers() = default;
  ~Helpers() {
    for (std::size_t i = merged_; i < helpers_.size(); ++i) cancel_helper(helpers_[i].job);
  }
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  [[nodiscard]] Result<void> start(const JobKey& job, const AddedShare& share,
                                   const std::string& gpu_type, Pair& pair);
  [[nodiscard]] Result<void> merge(const JobKey& job, Pair& pair);

 private:
  std::vector<Helper> helpers_;
  std::size_t merged_ = 0;  ///< the first ones
};

Result<void> Helpers::start(const JobKey& job, const AddedShare& share, const std::string& gpu_type,
                            Pair& pair) {
  auto helper = submit_helper(job, share, gpu_type);
  if (!helper) return tl::unexpected(helper.error());
  helpers_.push_back(*std::move(helper));
  if (auto may = may_hold(job, helpers_); !may) return may;
  Start start;
  start.job = helpers_.back().job;
  start.partition = helpers_.back().partition;
  const std::vector<int> node{share.node};
  StartConstraints constraints;
  constraints.only = &node;
  const StartOutcome outcome = try_start(start, constraints, pair);
  if (outcome.result == StartResult::kStarted) return {};
  return fail(outcome.words.empty() ? "its nodes are not free any more" : outcome.words);
}

Result<void> Helpers::merge(const JobKey& job, Pair& pair) {
  const StartScope scope{.managed = true};
  const ScopedStart scoped(pair, scope);
  for (; merged_ < helpers_.size(); ++merged_)
    if (auto done = merge_helper(job, helpers_[merged_].job); !done) return done;
  return {};
}

}  // namespace

Result<void> grow_job(const JobKey& job, const std::vector<AddedShare>& shares,
                      const std::string& gpu_type, Pair& pair) {
  if (auto can = can_grow(job, gpu_type); !can) return can;
  const int before = gpus_held(job);
  const int wanted =
      std::accumulate(shares.begin(), shares.end(), before,
                      [](int sum, const AddedShare& share) { return sum + share.gpus; });
  Helpers helpers;
  for (const AddedShare& share : shares)
    if (auto started = helpers.start(job, share, gpu_type, pair); !started) return started;
  const auto merged = helpers.merge(job, pair);
  const int now = gpus_held(job);
  if (now != before) end_growth(job);
  if (now == wanted) return {};
  const std::string words = merged ? "no error" : merged.error().text;
  return fail(now == before ? words : fmt::format("{}; it has {} GPUs now", words, now));
}

}  // namespace rubato
