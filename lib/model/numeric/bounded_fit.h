// SPDX-License-Identifier: GPL-2.0-or-later
// Minimises a function of a few bounded parameters. Every parametric model is fitted with it.
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace rubato {

/// A parameter to fit, with low <= start <= high. One that may span decades is searched by its
/// logarithm (`low` above 0).
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

/// A local minimum near the start: sequential quadratic programming with central differences
/// (Kraft 1994), then subplex for what is not smooth (Rowan 1990), then the first again, each from
/// the best point so far (NLopt). Never worse than the start; at most about `max_evaluations`
/// calls. Same input, same bytes. Takes no parameters, and starts outside their bounds (they are
/// clipped).
[[nodiscard]] FitResult minimise(std::span<const FitParameter> parameters,
                                 const FitObjective& objective, int max_evaluations = 4000);

}  // namespace rubato
