// SPDX-License-Identifier: GPL-2.0-or-later
// Policies that give each job a share of the time of each GPU type: the linear programs of Gavel
// (Narayanan et al., OSDI 2020, sections 3 and 4).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/sim/engine/cluster_shape.h"
#include "lib/sim/solver/lp.h"

namespace rubato::sim {

/// A job as the policies see it.
struct ShareJob {
  int gpus = 1;
  double weight = 1;
  double remaining = 0;             ///< steps
  std::vector<double> throughputs;  ///< steps/s on each type; 0: it cannot run there
};

enum class ShareRule {
  kLas,           ///< max-min of normalised throughput
  kLasAgnostic,   ///< the same with all throughputs set to 1
  kMaxSum,        ///< largest sum of steps/s
  kMakespan,      ///< minimum time until all jobs are done
  kWaterFilling,  ///< kLas, then repeated for jobs that can still rise
};

[[nodiscard]] std::optional<ShareRule> share_rule_of(const std::string& policy);

/// Shares (0..1), one row per job and one entry per type: the centre of the optimal face. `gpus`:
/// GPUs of each type. `solve` solves the linear programs.
[[nodiscard]] Result<std::vector<std::vector<double>>> shares(ShareRule rule,
                                                              const std::vector<ShareJob>& jobs,
                                                              const std::vector<int>& gpus,
                                                              CentreSolver solve = solve_centre);

}  // namespace rubato::sim
