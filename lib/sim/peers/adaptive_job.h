// SPDX-License-Identifier: GPL-2.0-or-later
// A job that trains an application to its end, advanced as the simulators of Pollux and Sia do.
#pragma once

#include <functional>
#include <vector>

#include "lib/sim/peers/adaptive_app.h"

namespace rubato::sim {

struct AdaptiveJob {
  const AdaptiveApp* app = nullptr;
  double slowdown = 1;         ///< of the truth against the measurements
  int type = -1;               ///< of the GPUs it holds
  std::vector<int> placement;  ///< GPUs on its nodes in the order of allocation; empty: it waits
  BatchSplit split;
  int epoch = 0;
  double progress = 0;
  double delay = 0;  ///< seconds that a restart still takes
  double finish = -1;

  [[nodiscard]] bool finished() const { return finish >= 0; }
  [[nodiscard]] int gpus() const;
  /// What an iteration takes without slowdown.
  [[nodiscard]] StepSeconds step() const;
  [[nodiscard]] double batch() const;
};

/// The GPUs on each of a job's nodes, from a node for each GPU in the order of allocation: lengths
/// of the runs of equal ones.
[[nodiscard]] std::vector<int> run_lengths(const std::vector<int>& nodes);

/// Reports of a running job: called once a step of its loop, before progress is made; and
/// how it chooses the split of its batch anew, at each end of an epoch and of an interval.
struct AdaptiveHooks {
  std::function<void(AdaptiveJob&, const StepSeconds&)> measured;
  std::function<void(AdaptiveJob&)> retune;
};

/// `seconds` from `now` on. An epoch ends after whole seconds, halves to even. Returns the seconds
/// that it used its GPUs.
double advance(AdaptiveJob& job, double now, double seconds, const AdaptiveHooks& hooks);

}  // namespace rubato::sim
