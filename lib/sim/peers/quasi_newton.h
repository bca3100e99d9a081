// SPDX-License-Identifier: GPL-2.0-or-later
// L-BFGS-B: Byrd, Lu, Nocedal and Zhu, SIAM J. Sci. Comput. 16(5), 1995, with the subspace step of
// Morales and Nocedal, ACM TOMS 38(1), 2011. The simulators of Pollux and Sia fit with it and stop
// early, often far from the minimum. Their policies plan with what it returns, so a replay follows
// its path instead of searching the minimum.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace rubato::sim {

/// A variable with low <= start <= high; `high` may be infinite. One with low == high is fixed.
struct BoundedVariable {
  double start = 0;
  double low = 0;
  double high = 0;
};

/// When to stop.
struct QuasiNewtonRules {
  double reduction = 1e-5;  ///< relative reduction of the objective in an iteration
  double slope = 1e-5;      ///< largest component of the projected gradient
  int max_iterations = 15'000;
};

/// The objective at a point; writes its gradient.
using SlopedObjective =
    std::function<double(std::span<const double> point, std::span<double> gradient)>;

/// The point at which the method stops. Dense: for a few variables.
[[nodiscard]] std::vector<double> quasi_newton(std::span<const BoundedVariable> variables,
                                               const SlopedObjective& objective,
                                               const QuasiNewtonRules& rules);

}  // namespace rubato::sim
