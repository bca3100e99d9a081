// SPDX-License-Identifier: GPL-2.0-or-later
// Pollux (Qiao et al., OSDI 2021): a genetic search for allocations with the best harmonic mean of
// speedups in goodput. Each job's batch maximises its goodput.
//
// On a cluster of several types it works as in Sia's artifact (multi_simulator_unaware.py,
// cluster_unaware.py): it ignores types. Each node counts as several nodes of the smallest node's
// size. All measurements of a job form one model, whatever the type. If an allocation spans several
// types, the job keeps the GPUs of the most frequent one.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "lib/sim/peers/adaptive_fit.h"
#include "lib/sim/peers/adaptive_loop.h"
#include "lib/sim/peers/pollux_search.h"

namespace rubato::sim {

class PolluxOwn : public LoopPolicy {
 public:
  PolluxOwn(const AdaptiveRules& rules, const ClusterShape& cluster, std::uint64_t seed);

  [[nodiscard]] std::vector<LoopGrant> decide(double now,
                                              std::span<LoopJob* const> active) override;
  void measured(LoopJob& job, const StepSeconds& step) override;
  [[nodiscard]] BatchSplit split(const LoopJob& job) const override;

 private:
  /// The measurements of a job.
  struct Known {
    AdaptivePoints points;
    AdaptiveModel model;
    GradientStats gradient;
    int max_gpus = 0;
  };
  /// Speedups of a job by nodes and GPUs; -1: not computed yet.
  using Speedups = std::vector<double>;
  /// A part of a node, as large as the smallest node.
  struct Part {
    TypeIndex type = 0;
    GroupNodeIndex node = 0;
  };
  /// The input of a search.
  struct Round {
    std::vector<const LoopJob*> order;  ///< sorted by service
    std::vector<double> factors;        ///< speedup factors of jobs that restart
    std::vector<Speedups> speedups;
    int share = 1;  ///< GPUs per job if all had the same number
  };

  [[nodiscard]] std::size_t gpus() const {
    return parts_.size() * static_cast<std::size_t>(part_gpus_);
  }
  [[nodiscard]] double goodput(const LoopJob& job, int nodes, int gpus) const;
  [[nodiscard]] double speedup(const LoopJob& job, int nodes, int gpus, int share) const;
  [[nodiscard]] int max_gpus(const LoopJob& job) const;
  [[nodiscard]] std::vector<Genome> begin(const std::vector<const LoopJob*>& order,
                                          const Genome& now) const;
  [[nodiscard]] std::pair<double, double> value(Round& round, const Genome& now,
                                                const Genome& genome) const;
  void keep_one_type(const LoopJob& job, Genome& row) const;
  [[nodiscard]] LoopGrant grant_of(const Genome& row) const;

  std::vector<Part> parts_;
  int part_gpus_ = 0;
  int max_spread_ = 0;  ///< GPUs of the smallest type
  GeneticSearch search_;
  std::map<const LoopJob*, Known> known_;
  std::map<const LoopJob*, Genome> held_;  ///< GPUs on each part
  std::vector<const LoopJob*> last_order_;
  std::vector<Genome> last_front_;
};

}  // namespace rubato::sim
