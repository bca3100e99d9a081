// SPDX-License-Identifier: GPL-2.0-or-later
// Minimises a function of a few bounded parameters. Every parametric model is fitted with it.
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace rubato {

/// A parameter to fit, with low <= start <= high. A parameter over several decades is searched by
/// its logarithm (needs `low` above 0).
struct FitParameter {
  double start = 0;
  double low = 0;
  double high = 0;
  bool logarithmic = false;
};

struct FitResult {
  std::vector<double> values;  ///< inside the bounds, in the order of the parameters
  double objective = std::numeric_limits<double>::infinity();
};

/// The function to minimise; a value that is not finite counts as very bad.
using FitObjective = std::function<double(std::span<const double>)>;

/// Finds a local minimum near the start with NLopt: sequential quadratic programming with central
/// differences (Kraft 1994), then subplex for non-smooth functions (Rowan 1990), then the first
/// again. Each search starts from the best point so far. Never worse than the start; at most about
/// `max_evaluations` calls. Deterministic. Accepts an empty parameter list, and clips starts to the
/// bounds.
[[nodiscard]] FitResult minimise(std::span<const FitParameter> parameters,
                                 const FitObjective& objective, int max_evaluations = 4000);

}  // namespace rubato
