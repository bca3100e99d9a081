// SPDX-License-Identifier: GPL-2.0-or-later
// Stage 3: the level of each job in the multi-level queue, by a Borda count over attained service
// and remaining resource-time.
#pragma once

#include <optional>
#include <vector>

#include "lib/base/units.h"

namespace rubato {

/// Levels of the queue; 0 goes first.
inline constexpr int kLevels = 3;

/// What the count needs to know of a job, pending or running. Amounts are finite and at least 0.
struct LevelInput {
  JobKey job;
  /// GPU-seconds it held, each weighted with the speed of its type; since its last promotion.
  double attained = 0;
  /// GPU-seconds it still needs on its best type and size; empty for a job whose work or speed is
  /// not known.
  std::optional<double> remaining;
  Seconds waited = 0;    ///< since it was submitted, promoted or last ran
  Seconds executed = 0;  ///< since its last promotion
  int level = 0;         ///< of the last round; 0 for a new job
  bool exempt = false;   ///< an admin set its priority: never below level 0
};

struct LevelRules {
  /// Share of the score's range below which a job belongs to level 0, and to level 0 or 1.
  double first = 0.25;
  double second = 0.75;
  /// A job changes its level only when its score is this far beyond the border: two similar jobs do
  /// not take turns.
  double dead_band = 0.05;
  /// With fewer jobs a rank says nothing: all are level 0.
  int min_jobs = 4;
  /// A job below level 0 that has waited longer than this many times what it executed, and
  /// `min_wait`, is promoted (Gu et al., Tiresias, NSDI 2019, section 3.3).
  double starvation = 2.0;
  Seconds min_wait = 300;
};

struct JobLevel {
  JobKey job;
  int level = 0;
  double score = 0;       ///< 0 best, 1 worst
  int by_service = 0;     ///< the level by attained service alone
  bool promoted = false;  ///< by the starvation rule: its counters begin anew

  bool operator==(const JobLevel&) const = default;
};

/// One level for each of `jobs`, sorted by key; the order of `jobs` does not matter.
///
/// Two lists are ranked, least first: attained service of all jobs, and remaining resource-time of
/// the jobs that know it. Jobs of equal value share a rank, and a rank counts as its share of the
/// list. The score of a job in both lists is the mean of its two ranks, of any other its rank in
/// the first, so that both kinds stand on one scale (Zhao et al., AITurbo, HPDC 2021, with the
/// ranks of a Borda count in place of list positions).
[[nodiscard]] std::vector<JobLevel> levels(std::vector<LevelInput> jobs,
                                           const LevelRules& rules = {});

}  // namespace rubato
