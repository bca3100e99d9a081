// SPDX-License-Identifier: GPL-2.0-or-later
// Fits the hyperparameters of the throughput model, its standard deviations, to this site's
// measurements.
#pragma once

#include <vector>

#include "lib/model/throughput/throughput.h"
#include "lib/model/throughput/throughput_history.h"

namespace rubato {

/// With fewer observations or profiles, differences between job types cannot be estimated.
constexpr std::size_t kMinObservationsForPrior = 12;
constexpr std::size_t kMinProfilesForPrior = 3;
/// Maximum number of observations used: whole profiles, those with the most observations first.
constexpr std::size_t kMaxObservationsForPrior = 160;

/// The standard deviations that make the measurements most likely (the marginal likelihood of
/// Rasmussen & Williams, equation 2.30), each with a log-normal prior around `start`, whose
/// standard deviation is a factor of e. Parameters without information keep their value; all do
/// with too few observations. Deterministic. Takes about a second at most. `noise_known`: keeps
/// `report` and `report_floor`, which repeated reports estimate better than observations do.
[[nodiscard]] ThroughputPrior fit_hyperparameters(
    const TypeSpeeds& speeds, const std::vector<ThroughputObservation>& observations,
    const ThroughputPrior& start = {}, bool noise_known = false);

/// Returns `prior` with `report` and `report_floor` from the scatter of reports of one
/// configuration, each with the same prior.
[[nodiscard]] ThroughputPrior with_scatter(ThroughputPrior prior, const ReportScatter& scatter);

/// Standard deviation (ln) of warm-up reports around the settled throughput, with the same prior
/// around ThroughputHistory::kEarlyStddev.
[[nodiscard]] double early_stddev(const ReportScatter& scatter);

}  // namespace rubato
