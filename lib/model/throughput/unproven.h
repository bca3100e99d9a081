// SPDX-License-Identifier: GPL-2.0-or-later
// Bounds on what a single job claims of a configuration.
#pragma once

#include <vector>

#include "lib/model/throughput/throughput.h"

namespace rubato {

/// How far the ratio of two configurations of one job type may exceed the usual one. The sweep in
/// docs/results/models.md: of 246 published measurements none does; the largest exceeds it 2.2
/// times.
inline constexpr double kUnprovenFactor = 3;

/// Bounds the throughput of each observation that one job alone measured (`jobs` is 1), by the
/// other observations of its profile. `c` may exceed a reference `r` by the ratio of their GPU
/// types, times the ratio of their GPUs if `c` has more, times `factor`. The ratio of the types is
/// the median of those that proven observations of all profiles show at equal GPUs; without any,
/// that of `speeds`. The median (upper) bound over the references counts; if some are proven, over
/// these alone. Without a reference the observation stays as it is.
/// `observations` are sorted by `before`. O(n m) for profiles of m observations.
void bound_unproven(std::vector<ThroughputObservation>& observations, const TypeSpeeds& speeds,
                    double factor = kUnprovenFactor);

}  // namespace rubato
