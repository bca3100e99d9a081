// SPDX-License-Identifier: GPL-2.0-or-later
// Running jobs try sizes that were not measured, on GPUs that no other job wants.
#pragma once

#include <vector>

#include "lib/policy/algorithms/configuration_table.h"
#include "lib/policy/market/allocation.h"
#include "lib/policy/market/market.h"

namespace rubato {

/// Standard deviations by which a trial may be faster than its forecast.
inline constexpr double kTrialHope = 2;

/// Gives GPUs that are left after the market to running jobs that keep their size and can grow
/// live, where a larger size was barely measured (kTrialStddev) and may be worth it (kTrialHope,
/// MinScaling). Its reports then show whether it is, and the next rounds decide by them; to
/// take the GPUs back costs a live change. `market.jobs` and `allocation.row` go with `tables`.
void try_idle_gpus(const RoundInput& input, const std::vector<ConfigurationTable>& tables,
                   const Market& market, Allocation& allocation);

}  // namespace rubato
