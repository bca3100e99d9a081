// SPDX-License-Identifier: GPL-2.0-or-later
// First in, first out as in Gavel's simulator, in both forms.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "lib/sim/engine/cluster_shape.h"
#include "lib/sim/engine/mersenne.h"
#include "lib/sim/engine/workload.h"

namespace rubato::sim {

struct FifoJob {
  JobIndex id = 0;
  int gpus = 1;
  std::vector<double> throughputs;  ///< on each type
};

/// A type per job. Jobs without an entry wait.
using FifoChoice = std::map<JobIndex, TypeIndex>;

/// Heterogeneity-aware: allocates all jobs anew, by id, each on its fastest type with room. Stops
/// at the first job without room. `by_name`: the types sorted by name.
[[nodiscard]] FifoChoice fifo_fastest(const std::vector<FifoJob>& jobs, std::vector<int> free,
                                      const std::vector<TypeIndex>& by_name);

/// Heterogeneity-blind, including the behaviour behind its published figures: it draws a type among
/// those with room, but uses the last one that still has any.
class GavelFifo {
 public:
  explicit GavelFifo(std::uint32_t seed) : random_(seed) {}

  [[nodiscard]] const FifoChoice& choose(const std::vector<FifoJob>& jobs, std::vector<int> free,
                                         const std::vector<TypeIndex>& by_name);

 private:
  void keep(const std::vector<FifoJob>& jobs, std::vector<int>& free,
            std::deque<const FifoJob*>& queue);
  void draw(std::vector<int>& free, std::deque<const FifoJob*>& queue,
            const std::vector<TypeIndex>& by_name);

  Mersenne random_;
  FifoChoice assigned_;
};

}  // namespace rubato::sim
