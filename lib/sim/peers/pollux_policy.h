// SPDX-License-Identifier: GPL-2.0-or-later
// Pollux (Qiao et al., OSDI 2021) in its own simulator: allocations by a genetic search for the
// harmonic mean of speedups in goodput, each job's batch chosen for its goodput.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "lib/sim/peers/adaptive_fit.h"
#include "lib/sim/peers/pollux_loop.h"
#include "lib/sim/peers/pollux_search.h"

namespace rubato::sim {

class PolluxOwn : public PolluxPolicy {
 public:
  PolluxOwn(const NodeGroup& nodes, std::uint64_t seed) : nodes_(nodes), search_(seed) {}

  [[nodiscard]] PolluxGrants decide(double now, std::span<PolluxJob* const> active) override;
  void measured(PolluxJob& job, const StepSeconds& step) override;
  [[nodiscard]] BatchSplit split(const PolluxJob& job) const override;

 private:
  /// What a job has measured.
  struct Known {
    AdaptivePoints points;
    AdaptiveModel model;
    GradientStats gradient;
    int most_gpus = 0;
  };
  /// Speedups of a job by nodes and GPUs, -1 where they were not asked for yet.
  using Speedups = std::vector<double>;

  [[nodiscard]] double goodput(const PolluxJob& job, int nodes, int gpus) const;
  [[nodiscard]] double speedup(const PolluxJob& job, int nodes, int gpus, int share) const;
  [[nodiscard]] int most_gpus(const PolluxJob& job) const;
  [[nodiscard]] std::vector<Genome> begin(const std::vector<const PolluxJob*>& order,
                                          const Genome& now) const;

  NodeGroup nodes_;
  GeneticSearch search_;
  std::map<const PolluxJob*, Known> known_;
  std::vector<const PolluxJob*> last_order_;
  std::vector<Genome> last_front_;
};

}  // namespace rubato::sim
