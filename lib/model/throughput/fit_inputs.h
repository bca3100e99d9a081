// SPDX-License-Identifier: GPL-2.0-or-later
// What a fit is made from: observations and points of curves, checked, merged and sorted.
#pragma once

#include <cstddef>
#include <vector>

#include "lib/model/throughput/throughput.h"

namespace rubato::fit_inputs {

/// Bounds of ln throughput: no computer is faster or slower.
inline constexpr double kFarLogThroughput = 60;

/// False: the observation says that the job does not fit there.
[[nodiscard]] bool measured_throughput(const ThroughputObservation& observation);
/// The weight of an observation, in reports.
[[nodiscard]] double reports_of(const ThroughputObservation& observation);

/// Drops unusable observations, and merges those of one configuration to their weighted mean in log
/// space. Sorted by `before`.
[[nodiscard]] std::vector<ThroughputObservation> joined(
    std::vector<ThroughputObservation> observations);

/// Drops unusable points, keeps the more certain of two at one configuration, and at most `most`.
/// Sorted by profile and configuration.
[[nodiscard]] std::vector<CurvePoint> sorted(std::vector<CurvePoint> curves, std::size_t most);

}  // namespace rubato::fit_inputs
