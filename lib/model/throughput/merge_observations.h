// SPDX-License-Identifier: GPL-2.0-or-later
// Reduces the observations of a fit to a maximum number.
#pragma once

#include <cstddef>
#include <vector>

#include "lib/model/throughput/throughput.h"

namespace rubato {

struct MergedObservations {
  std::vector<ThroughputObservation> observations;  ///< sorted by `before`
  std::size_t merged = 0;  ///< number of observations that are now part of another one
  std::size_t dropped = 0;
};

/// At most `most` of `observations`, which are sorted by `before` and have different
/// configurations. Merges two observations of one profile, GPU type and plan, again and again,
/// those that lose least first: the prior variance of the difference between their configurations,
/// over the sum of their own variances (Ward 1963, with that variance as squared distance). The
/// configuration with more reports stays. The other throughput is converted to it by the usual
/// exponents and counts less by that variance. If no such pair is left, drops those with the
/// fewest reports. O(n log n).
[[nodiscard]] MergedObservations merge_to(std::vector<ThroughputObservation> observations,
                                          std::size_t most, const ThroughputPrior& prior);

}  // namespace rubato
