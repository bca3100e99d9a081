// SPDX-License-Identifier: GPL-2.0-or-later
// Optimus (Peng et al., EuroSys 2018) with an oracle, as the simulator of Pollux has it: a GPU at a
// time to the job whose remaining time shrinks most, by true step times.
#pragma once

#include <map>
#include <utility>

#include "lib/sim/peers/pollux_loop.h"

namespace rubato::sim {

class PolluxOptimus : public PolluxPolicy {
 public:
  explicit PolluxOptimus(const NodeGroup& nodes) : nodes_(nodes) {}
  [[nodiscard]] PolluxGrants decide(double now, std::span<PolluxJob* const> active) override;

 private:
  [[nodiscard]] double iteration(const PolluxJob& job, int gpus);
  [[nodiscard]] double gain(const PolluxJob& job, int gpus, int free);
  [[nodiscard]] std::vector<int> sizes(std::span<PolluxJob* const> active);

  NodeGroup nodes_;
  /// Seconds of an iteration by application and batch, then GPUs.
  std::map<std::pair<const AdaptiveApp*, double>, std::map<int, double>> iterations_;
};

}  // namespace rubato::sim
