// SPDX-License-Identifier: GPL-2.0-or-later
// Stage predict: how fast GPU types are, and what each job has had and still needs.
#pragma once

#include <string>
#include <vector>

#include "lib/policy/algorithms/forecasts.h"
#include "lib/policy/algorithms/round_input.h"

namespace rubato {

/// Forecasts for all jobs of the snapshot. `types` are the GPU types of the cluster by TypeId.
[[nodiscard]] Forecasts predict(const RoundInput& input, const std::vector<std::string>& types);

}  // namespace rubato
