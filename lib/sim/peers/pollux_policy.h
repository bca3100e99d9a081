// SPDX-License-Identifier: GPL-2.0-or-later
// Pollux (Qiao et al., OSDI 2021): allocations by a genetic search for the harmonic mean of
// speedups in goodput, each job's batch chosen for its goodput.
//
// On a cluster of several types it is as Sia's artifact runs it there (multi_simulator_unaware.py,
// cluster_unaware.py): blind to types. Each node counts as as many nodes of the smallest size as it
// has room for, what a job measured on any type is one model, and of an allocation over several
// types the GPUs of the most frequent stay.
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
  /// What a job has measured.
  struct Known {
    AdaptivePoints points;
    AdaptiveModel model;
    GradientStats gradient;
    int max_gpus = 0;
  };
  /// Speedups of a job by nodes and GPUs, -1 where they were not asked for yet.
  using Speedups = std::vector<double>;
  /// A part of a node, as large as the smallest node.
  struct Part {
    int type = 0;
    int node = 0;
  };
  /// What the search is about.
  struct Round {
    std::vector<const LoopJob*> order;  ///< by service
    std::vector<double> factors;        ///< of speedups of those that restart
    std::vector<Speedups> speedups;
    int share = 1;  ///< GPUs of a job where all had as many
  };

  [[nodiscard]] int gpus() const { return static_cast<int>(parts_.size()) * part_gpus_; }
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
