// SPDX-License-Identifier: GPL-2.0-or-later
// The policy of Rubick (Zhang et al., MLSys 2025) as in its simulator: the rules of the artifact's
// code, without steps that have no effect.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/sim/engine/cluster_shape.h"
#include "lib/sim/peers/rubick_tables.h"

namespace rubato::sim {

/// A job as the policy sees it, with predicted instead of measured throughput.
struct RubickView {
  const RubickKind* kind = nullptr;
  double age = 0;         ///< seconds since submission
  int restarts = 0;       ///< without the first start
  bool seen = false;      ///< it was in an earlier round
  std::vector<int> gpus;  ///< GPUs held on each node; changed in place
  /// Samples/s promised to a guaranteed job; 0: not guaranteed.
  double promised = 0;
};

/// One round over all submitted, unfinished jobs in workload order, on nodes with `node_gpus` GPUs
/// each. Allocations must fit. No job loses GPUs to another. Large jobs with 32 GPUs or more are
/// stopped and placed anew, as long as they restarted fewer than 7 times. Guaranteed jobs come
/// first, but not where large jobs grow. A small guaranteed job rejects a placement if 1.5 times
/// its predicted throughput is below its promise.
void rubick_round(std::vector<RubickView>& jobs, int node_gpus);

}  // namespace rubato::sim
