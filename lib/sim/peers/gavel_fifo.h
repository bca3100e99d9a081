// SPDX-License-Identifier: GPL-2.0-or-later
// First in, first out as Gavel's simulator has it, in both forms.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "lib/sim/engine/mersenne.h"

namespace rubato::sim {

struct FifoJob {
  int id = 0;
  int gpus = 1;
  std::vector<double> throughputs;  ///< on each type
};

/// A type for each job, by id; who has none waits.
using FifoChoice = std::map<int, int>;

/// Heterogeneity-aware: from nothing, jobs by id, each on the type it is fastest on among those
/// with room; the first without room ends it. `by_name` are the types in the order of their names.
[[nodiscard]] FifoChoice fifo_fastest(const std::vector<FifoJob>& jobs, std::vector<int> free,
                                      const std::vector<int>& by_name);

/// Heterogeneity-blind, with what its published figures come from: a type is drawn among those
/// with room, but the last one that still has any is used.
class GavelFifo {
 public:
  explicit GavelFifo(std::uint32_t seed) : random_(seed) {}

  [[nodiscard]] const FifoChoice& choose(const std::vector<FifoJob>& jobs, std::vector<int> free,
                                         const std::vector<int>& by_name);

 private:
  void keep(const std::vector<FifoJob>& jobs, std::vector<int>& free,
            std::deque<const FifoJob*>& queue);
  void draw(std::vector<int>& free, std::deque<const FifoJob*>& queue,
            const std::vector<int>& by_name);

  Mersenne random_;
  FifoChoice assigned_;
};

}  // namespace rubato::sim
