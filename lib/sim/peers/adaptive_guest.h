// SPDX-License-Identifier: GPL-2.0-or-later
// A policy of the engine in the loop of Pollux's and Sia's simulators.
#pragma once

#include <string>
#include <vector>

#include "lib/sim/peers/adaptive_loop.h"
#include "lib/sim/peers/guest.h"

namespace rubato::sim {

/// Decides every round of 60 s. A job trains with the batch of its grant, or the user's. A change
/// of batch is free.
class AdaptiveGuest : public LoopPolicy {
 public:
  /// `suite` must be the suite whose jobs the loop replays.
  AdaptiveGuest(const AdaptiveRules& rules, const Suite& suite, Policy& policy, std::uint64_t seed)
      : LoopPolicy(rules), jobs_(suite.jobs), guest_(suite, policy, seed) {}

  [[nodiscard]] std::vector<LoopGrant> decide(double now,
                                              std::span<LoopJob* const> active) override;
  [[nodiscard]] const std::string& failure() const override { return failure_; }
  [[nodiscard]] BatchSplit split(const LoopJob& job) const override;

 private:
  [[nodiscard]] JobIndex index(const LoopJob& job) const {
    return JobIndex{job.job - jobs_.data()};
  }

  const JobList& jobs_;
  Guest guest_;
  std::string failure_;
};

}  // namespace rubato::sim
