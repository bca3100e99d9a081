// SPDX-License-Identifier: GPL-2.0-or-later
// What the fit expects of the profiles that models.json lists, on every GPU type.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lib/json/models_table.h"
#include "lib/model/throughput/learner.h"
#include "lib/model/throughput/throughput.h"

namespace rubato {

/// Most rows of one table; the profiles behind are left out.
inline constexpr std::size_t kMaxForecasts = 2000;

/// Of each profile of `table` that `model` knows: on each of `gpu_types`, and those it was measured
/// on, at each number of GPUs it was measured at. Several types at once (`a100+h100`) only where
/// they were measured. Sorted.
[[nodiscard]] std::vector<ForecastRow> forecasts_of(const ModelsTable& table,
                                                    const ThroughputModel& model,
                                                    const std::set<std::string>& gpu_types);

/// Measured errors, sorted; `shared`: names of the job types that all accounts share.
[[nodiscard]] std::vector<ErrorRow> errors_of(const ForecastErrors& errors,
                                              const std::set<std::string>& shared);
/// Likewise of fits that were not used.
[[nodiscard]] std::vector<RefusalRow> refusals_of(
    const std::map<ForecastErrors::Key, RefusedFits>& refusals,
    const std::set<std::string>& shared);
/// For each measured profile where a measurement would teach most, what teaches most first.
[[nodiscard]] std::vector<InformativeMeasurementRow> most_informative_of(
    const ThroughputModel& model, const std::set<std::string>& gpu_types,
    const std::set<std::string>& shared);

}  // namespace rubato
