// SPDX-License-Identifier: GPL-2.0-or-later
// The prior of the terms of a plan's step time.
#pragma once

#include <array>
#include <vector>

#include "lib/model/plans/plan_fit.h"

namespace rubato {

/// ln(term) is normal around ln(centre); the term stays between the bounds, all above 0.
struct TermBelief {
  double centre = 1;
  double stddev = 1;
  double low = 1e-8;
  double high = 1e8;
};

using PlanBeliefs = std::array<TermBelief, kPlanTerms>;

/// Times are relative to those of `settings` (merged samples). The published bounds apply: k_bwd
/// from 1 to 10, k_sync at least 1, k_opt, k_opt_off and k_const at least 1e-8. Without settings,
/// the forward pass follows from the shape and an average GPU. `links_known`: see PlanEnvironment.
[[nodiscard]] PlanBeliefs beliefs_of(const ModelShape& shape,
                                     const std::vector<PlanSample>& settings, PlanBelief belief,
                                     bool links_known = true);

[[nodiscard]] PlanTerms centres(const PlanBeliefs& beliefs);

}  // namespace rubato
