// SPDX-License-Identifier: GPL-2.0-or-later
// Stage 5: on which GPU type each of several pending jobs should run, decided for all together.
#pragma once

#include <vector>

#include "lib/base/units.h"

namespace rubato {

/// Most jobs that are matched at once: the first of the order. O(n^3) steps.
inline constexpr int kMaxMatched = 96;

/// A job that may run on several GPU types.
struct Contender {
  /// Expected run time on each pool, seconds, above 0; kForbidden where it cannot run.
  std::vector<double> seconds;
  /// GPUs it would hold on each pool, above 0 where it can run.
  std::vector<int> gpus;
};

/// The GPUs of one type that the contenders compete for.
struct TypePool {
  int gpus = 0;
  /// GPU-seconds until those who run there are expected to end.
  double busy = 0;
};

/// What a job was matched to.
struct TypeMatch {
  int pool = -1;  ///< -1: it can run on none
  /// Contenders that come after it on that pool; more of them, and shorter jobs, go earlier.
  int followers = 0;

  bool operator==(const TypeMatch&) const = default;
};

/// The pool of each contender such that the sum of all completion times is least, where each pool
/// is taken for one machine that works off its jobs one after the other at the speed of all its
/// GPUs. For jobs of one GPU on pools of one GPU that is exact (unrelated machines, sum of
/// completion times: Horn, Operations Research 21, 1973; Bruno, Coffman & Sethi, CACM 17, 1974):
/// the q-th from the last of a machine delays q jobs by its run time. At most kMaxMatched
/// contenders; later ones get no pool.
[[nodiscard]] std::vector<TypeMatch> match(const std::vector<Contender>& contenders,
                                           const std::vector<TypePool>& pools);

}  // namespace rubato
