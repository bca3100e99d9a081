// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which reports a profile may use. A report is a claim of the job: it may be wrong, or
// intended to gain resources.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "lib/store/records.h"

namespace rubato::store {

/// Limits of the tests. Ratios are at least 1.
struct PlausibilityBounds {
  double above_best = 3;            ///< times the best unflagged throughput of its kind
  double wall_time = 1.5;           ///< between the reported throughput and that from the sample
                                    ///< counts
  double others = 2;                ///< from the median of the other jobs of its kind, up or down
  std::size_t others_at_least = 2;  ///< minimum number of other jobs with measurements
  std::size_t jobs_kept = 64;       ///< other jobs stored per kind, the last ones
};

/// Judges reports in order of arrival. Deterministic. A *kind* has one speed: the owner of the
/// profile (account, or all if shared), job type, GPU type and number of GPUs. Not thread-safe.
class Plausibility {
 public:
  explicit Plausibility(PlausibilityBounds bounds = {}) : bounds_(bounds) {}

  /// Returns the first flag that applies, in the order of `Flag`. The report must be `storable`.
  /// Counts are compared with those of the previous report, flagged or not: a job that was wrong
  /// once is flagged only once.
  [[nodiscard]] Flag judge(const Sample& sample) const;

  /// Adds a judged report (`sample.flag`). Replaying the samples of a store in order after a
  /// restart restores the state.
  void remember(const Sample& sample);

 private:
  using Kind = std::tuple<bool, std::string, std::string, std::string, int>;
  /// The last report of a job, with any flag.
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
    std::vector<Measured> jobs;  ///< last unflagged throughput of each job, oldest first
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
