// SPDX-License-Identifier: GPL-2.0-or-later
// Which reports a profile may use. A report is a claim of the job: it may be wrong, or meant to
// win resources.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "lib/store/records.h"

namespace rubato::store {

/// Bounds of the tests. Ratios are at least 1.
struct PlausibilityBounds {
  double above_best = 3;            ///< times the best unflagged rate of its kind
  double wall_time = 1.5;           ///< between the reported rate and the one that the counts give
  double others = 2;                ///< from the median of the other jobs of its kind, either way
  std::size_t others_at_least = 2;  ///< minimum number of other jobs with measurements
  std::size_t jobs_kept = 64;       ///< other jobs remembered a kind, the last ones
};

/// Judges reports in the order in which they came. Pure: same reports, same flags. A *kind* is what
/// has one speed: the owner of the profile (account, or all where it is shared), job type, GPU type
/// and number of GPUs. Not of thread-safe use.
class Plausibility {
 public:
  explicit Plausibility(PlausibilityBounds bounds = {}) : bounds_(bounds) {}

  /// The first of these that holds, in the order of `Flag`. The report must be `storable`.
  /// The counts are compared with those of the report just before, whether that was flagged or not:
  /// a job that was wrong once is flagged once, not for ever.
  [[nodiscard]] Flag judge(const Sample& sample) const;

  /// Takes a judged report (`sample.flag`) into account. Judging the samples of a store again in
  /// their order after a restart gives the state that the restart ended.
  void remember(const Sample& sample);

 private:
  using Kind = std::tuple<bool, std::string, std::string, std::string, int>;
  /// The last report of a job, of any flag.
  struct Last {
    int restarts = 0;
    Seconds time = 0;
    std::int64_t samples_done = 0;
    Kind kind;
    std::string plan;
    std::int64_t batch = 0;
  };
  struct Measured {
    JobKey job;
    double throughput = 0;
  };
  struct History {
    double best = 0;
    std::vector<Measured> jobs;  ///< last unflagged rate of each job, oldest first
  };

  static Kind kind_of(const Sample& sample);
  [[nodiscard]] bool not_monotone(const Sample& sample) const;
  [[nodiscard]] bool against_wall_time(const Sample& sample) const;
  [[nodiscard]] bool unlike_others(const Sample& sample, const History& history) const;

  PlausibilityBounds bounds_;
  std::map<JobKey, Last> last_;
  std::map<Kind, History> kinds_;
};

}  // namespace rubato::store
