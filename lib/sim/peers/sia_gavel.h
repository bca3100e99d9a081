// SPDX-License-Identifier: GPL-2.0-or-later
// Gavel's maximum total throughput (Narayanan et al., OSDI 2020) in the simulator of Sia: jobs keep
// their user's configuration, rounds of 360 s.
#pragma once

#include <map>
#include <vector>

#include "lib/sim/peers/adaptive_loop.h"

namespace rubato::sim {

class SiaGavel : public LoopPolicy {
 public:
  SiaGavel(const AdaptiveRules& rules, const ClusterShape& cluster)
      : LoopPolicy(rules), cluster_(cluster) {}

  [[nodiscard]] double period() const override { return 360; }
  [[nodiscard]] std::vector<LoopGrant> decide(double now,
                                              std::span<LoopJob* const> active) override;

 private:
  using Shares = std::vector<double>;  ///< on each type
  /// A GPU of a type, numbered across its nodes.
  using GpuIndex = Index<struct GpuTag>;

  /// A job and its allocation.
  struct Known {
    Shares throughputs;            ///< iterations/s on each type
    Shares received;               ///< seconds on each type, plus a bias
    TypeIndex type;                ///< in the last round
    std::vector<GpuIndex> places;  ///< of that type
  };

  void meet(const LoopJob& job);
  [[nodiscard]] std::vector<Shares> shares(std::span<LoopJob* const> active) const;
  struct Chosen {
    std::size_t job = 0;  ///< index into active
    TypeIndex type;
  };
  [[nodiscard]] std::vector<Chosen> select(std::span<LoopJob* const> active,
                                           const std::vector<Shares>& shares);
  void place(TypeIndex type, const std::vector<const LoopJob*>& jobs);

  ClusterShape cluster_;
  std::map<const LoopJob*, Known> known_;
  Shares received_;  ///< sum over all jobs so far, by type
  std::vector<const LoopJob*> solved_for_;
  std::vector<Shares> solved_;
};

}  // namespace rubato::sim
