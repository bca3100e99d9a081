// SPDX-License-Identifier: GPL-2.0-or-later
// Stage 2: how fast a job would be on each GPU type.
#pragma once

#include <string>
#include <vector>

#include "lib/model/models.h"
#include "lib/policy/capacity.h"

namespace rubato {

/// Speed by TypeId, above 0, of a job of which nothing is known: as configured, and corrected by
/// what was learnt of all job types.
[[nodiscard]] std::vector<double> predict_speeds(const Models& models,
                                                 const std::vector<std::string>& types);

/// All types, fastest first; equally fast ones by name.
[[nodiscard]] std::vector<TypeId> by_speed(const std::vector<double>& speeds);

}  // namespace rubato
