// SPDX-License-Identifier: GPL-2.0-or-later
// How widely rates spread at this site: the standard deviations of the throughput model, learnt
// from what was measured.
#pragma once

#include <vector>

#include "lib/model/throughput/throughput.h"
#include "lib/model/throughput/throughput_history.h"

namespace rubato {

/// Fewer cells, or fewer profiles, teach nothing about how job types differ.
constexpr std::size_t kMinObservationsForPrior = 12;
constexpr std::size_t kMinProfilesForPrior = 3;
/// Of more cells so many are used: of whole profiles, those with most cells first.
constexpr std::size_t kMaxObservationsForPrior = 160;

/// The standard deviations that make the measurements most likely (the marginal likelihood of
/// Rasmussen & Williams, equation 2.30), each held near that of `start` by a log-normal belief: a
/// factor of e either way is one standard deviation. What the cells say nothing about stays as it
/// is; so does all where there are too few. Same input, same bytes. About a second at most.
/// `noise_known`: `report` and `report_floor` stay, since repeated reports tell them better than
/// the cells do, which cannot tell noise from what is special about a place.
[[nodiscard]] ThroughputPrior fit_hyperparameters(
    const TypeSpeeds& speeds, const std::vector<ThroughputObservation>& observations,
    const ThroughputPrior& start = {}, bool noise_known = false);

/// With `report` and `report_floor` as reports of one place were seen to scatter, each held near
/// what it was by the same belief.
[[nodiscard]] ThroughputPrior with_scatter(ThroughputPrior prior, const ReportScatter& scatter);

/// How far a job that warms up is from the rate it settles at, by the same belief around
/// ThroughputHistory::kEarlyStddev.
[[nodiscard]] double early_stddev(const ReportScatter& scatter);

}  // namespace rubato
