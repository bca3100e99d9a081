// SPDX-License-Identifier: GPL-2.0-or-later
// Tiresias (Gu et al., NSDI 2019) as in the simulator of Pollux: two queues by attained service,
// each first in, first out. No promotion.
#pragma once

#include <list>
#include <map>

#include "lib/sim/peers/adaptive_loop.h"

namespace rubato::sim {

class PolluxTiresias : public LoopPolicy {
 public:
  PolluxTiresias(const AdaptiveRules& rules, const NodeGroup& nodes)
      : LoopPolicy(rules), nodes_(nodes) {}
  [[nodiscard]] std::vector<LoopGrant> decide(double now,
                                              std::span<LoopJob* const> active) override;

 private:
  /// A job with this many GPU-seconds moves to the second queue: 16 GPU-hours, the artifact's
  /// value.
  static constexpr double kLimit = 57'600;

  NodeGroup nodes_;
  std::list<const LoopJob*> queues_[2];
  std::map<const LoopJob*, double> served_;  ///< seconds with GPUs
};

}  // namespace rubato::sim
