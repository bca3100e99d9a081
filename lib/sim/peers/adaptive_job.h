// SPDX-License-Identifier: GPL-2.0-or-later
// A job that trains an application to its end, as simulated by Pollux and Sia.
#pragma once

#include <functional>
#include <vector>

#include "lib/sim/peers/adaptive_app.h"

namespace rubato::sim {

struct AdaptiveJob {
  const AdaptiveApp* app = nullptr;
  double slowdown = 1;         ///< of the truth relative to the measurements
  TypeIndex type;              ///< of the GPUs it holds
  std::vector<int> placement;  ///< GPUs on its nodes in the order of allocation; empty: it waits
  BatchSplit split;
  std::size_t epoch = 0;
  double progress = 0;
  double delay = 0;  ///< remaining seconds of a restart
  double finish = -1;

  [[nodiscard]] bool finished() const { return finish >= 0; }
  [[nodiscard]] int gpus() const;
  [[nodiscard]] int nodes() const { return static_cast<int>(placement.size()); }
  /// Time of an iteration without slowdown.
  [[nodiscard]] StepSeconds step() const;
  [[nodiscard]] double batch() const;
};

/// GPUs on each node of a job: the run lengths of equal values in a list with one node per GPU, in
/// the order of allocation.
[[nodiscard]] std::vector<int> run_lengths(const std::vector<GroupNodeIndex>& nodes);

/// `measured`: called once per step of the loop, before progress is made. `retune`: chooses a new
/// split of the batch at the end of each epoch and interval.
struct AdaptiveHooks {
  std::function<void(AdaptiveJob&, const StepSeconds&)> measured;
  std::function<void(AdaptiveJob&)> retune;
};

/// Advances the job by `seconds` from `now` on. An epoch ends after whole seconds, halves rounded
/// to even. Returns the seconds in which it used its GPUs.
double advance(AdaptiveJob& job, double now, double seconds, const AdaptiveHooks& hooks);

}  // namespace rubato::sim
