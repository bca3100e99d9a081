// SPDX-License-Identifier: GPL-2.0-or-later
// Optimus (Peng et al., EuroSys 2018) with an oracle, as in the simulator of Pollux. Each GPU goes
// to the job whose remaining time it shortens most, by true step times.
#pragma once

#include <map>
#include <utility>

#include "lib/sim/peers/adaptive_loop.h"

namespace rubato::sim {

class PolluxOptimus : public LoopPolicy {
 public:
  PolluxOptimus(const AdaptiveRules& rules, const NodeGroup& nodes)
      : LoopPolicy(rules), nodes_(nodes) {}
  [[nodiscard]] std::vector<LoopGrant> decide(double now,
                                              std::span<LoopJob* const> active) override;

 private:
  [[nodiscard]] double iteration(const LoopJob& job, int gpus);
  [[nodiscard]] double gain(const LoopJob& job, int gpus, int free);
  [[nodiscard]] std::vector<int> sizes(std::span<LoopJob* const> active);

  NodeGroup nodes_;
  /// Seconds of an iteration by application and batch, then by GPUs.
  std::map<std::pair<const AdaptiveApp*, double>, std::map<int, double>> iterations_;
};

}  // namespace rubato::sim
