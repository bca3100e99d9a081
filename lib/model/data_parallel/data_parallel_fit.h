// SPDX-License-Identifier: GPL-2.0-or-later
// The fit of a DataParallelModel. Internal to data_parallel.
#pragma once

#include <span>
#include <vector>

#include "lib/model/data_parallel/data_parallel_state.h"

namespace rubato::data_parallel {

/// Sorts, merges and thins samples to `most`; adds problems to `flags`.
[[nodiscard]] std::vector<StepObservation> join(std::span<const DataParallelSample> samples,
                                                std::size_t most,
                                                std::vector<DataParallelFlag>& flags);

/// `measured` must not be empty.
[[nodiscard]] LatentState fit(const DataParallelPrior& prior, std::vector<StepObservation> measured,
                              std::vector<DataParallelFlag> flags);

}  // namespace rubato::data_parallel
