// SPDX-License-Identifier: GPL-2.0-or-later
// The policy of Rubick (Zhang et al., MLSys 2025) as its simulator has it: the rules of the
// artifact's code, with the steps that never do anything left out.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/sim/peers/rubick_tables.h"

namespace rubato::sim {

/// A job as the policy sees it, with the throughput it believes instead of the measured one.
struct RubickView {
  const RubickKind* kind = nullptr;
  double age = 0;         ///< seconds since its submission
  int restarts = 0;       ///< the first start does not count
  bool seen = false;      ///< there was a round with it before
  std::vector<int> gpus;  ///< that it holds on each node; changed in place
  /// Samples/s that a guaranteed job was promised; 0: it is none.
  double promised = 0;
};

/// One round over all submitted, unfinished jobs in the order of the workload, on nodes with
/// `node_gpus` GPUs each. Holdings must fit. No job loses GPUs to another one; large jobs that
/// hold 32 GPUs or more are emptied while they have restarted fewer than 7 times, and placed anew.
/// Guaranteed jobs come first; a small one takes no place at which 1.5 times what is believed is
/// less than its promise.
void rubick_round(std::vector<RubickView>& jobs, int node_gpus);

}  // namespace rubato::sim
