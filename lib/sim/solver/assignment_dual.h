// SPDX-License-Identifier: GPL-2.0-or-later
// The Lagrangian dual of one configuration a job: a price for a GPU of each type. What every job
// would pay for at these prices, with what the GPUs are worth, bounds every answer from above.
#pragma once

#include <vector>

#include "lib/sim/solver/assignment_problem.h"

namespace rubato::sim {

/// An entry of a row that an answer may take.
struct AssignmentCandidate {
  int column = -1;
  int type = 0;
  int gpus = 0;
  double worth = 0;  ///< above 0
};

/// Of each row the entries worth more than nothing that the GPUs allow, without those that another
/// one of the same type beats with no more GPUs.
[[nodiscard]] std::vector<std::vector<AssignmentCandidate>> candidates_of(
    const AssignmentProblem& choice);

/// A price for each type, at least 0.
using Prices = std::vector<double>;

/// The most that a row gains at these prices, with nothing at all among what it can take.
[[nodiscard]] double max_gain(const std::vector<AssignmentCandidate>& row, const Prices& prices);

/// No answer is worth more than this: Fisher, The Lagrangian Relaxation Method for Solving Integer
/// Programming Problems, Management Science 27(1), 1981.
[[nodiscard]] double dual_worth(const std::vector<std::vector<AssignmentCandidate>>& rows,
                                const std::vector<int>& gpus, const Prices& prices);

/// Prices at which dual_worth() is least, by the ellipsoid method with deep cuts (Bland, Goldfarb
/// and Todd, The Ellipsoid Method: A Survey, Operations Research 29(6), 1981) to 1e-9 of it or so
/// many steps; any prices bound.
[[nodiscard]] Prices best_prices(const std::vector<std::vector<AssignmentCandidate>>& rows,
                                 const std::vector<int>& gpus);

}  // namespace rubato::sim
