// SPDX-License-Identifier: GPL-2.0-or-later
// The Lagrangian dual of the assignment problem: a price per GPU of each type. The gains of all
// jobs at these prices, plus the worth of the GPUs, bound every solution from above.
#pragma once

#include <vector>

#include "lib/sim/solver/assignment_problem.h"

namespace rubato::sim {

/// A row's entry that a solution may choose.
struct AssignmentCandidate {
  ColumnIndex column;
  TypeIndex type = 0;
  int gpus = 0;
  double worth = 0;  ///< above 0
};

/// The useful entries of each row: worth above 0, at most the existing GPUs, and not dominated. An
/// entry is dominated by one of its type with at least its worth and at most its GPUs.
[[nodiscard]] std::vector<std::vector<AssignmentCandidate>> candidates_of(
    const AssignmentProblem& choice);

/// A price for each type, at least 0.
using Prices = std::vector<double>;

/// The maximum gain of a row at these prices; at least 0, since a row may stay empty.
[[nodiscard]] double max_gain(const std::vector<AssignmentCandidate>& row, const Prices& prices);

/// Upper bound of the worth of every solution: Fisher, The Lagrangian Relaxation Method for Solving
/// Integer Programming Problems, Management Science 27(1), 1981.
[[nodiscard]] double dual_worth(const std::vector<std::vector<AssignmentCandidate>>& rows,
                                const std::vector<int>& gpus, const Prices& prices);

/// Prices that minimise dual_worth(), by the ellipsoid method with deep cuts (Bland, Goldfarb and
/// Todd, The Ellipsoid Method: A Survey, Operations Research 29(6), 1981). Stops at 1e-9 of the
/// minimum or at a maximum number of steps. Any prices give a bound.
[[nodiscard]] Prices best_prices(const std::vector<std::vector<AssignmentCandidate>>& rows,
                                 const std::vector<int>& gpus);

}  // namespace rubato::sim
