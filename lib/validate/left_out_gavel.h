// SPDX-License-Identifier: GPL-2.0-or-later
// Gavel's measurements with a GPU type or a model left out. Internal to validate_left_out.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lib/validate/data_gavel.h"

namespace rubato {

/// What was left out, and the relative errors on its rows that were not chosen.
struct LeftOut {
  std::string name;
  std::size_t chosen = 0;
  std::vector<double> ours;
  std::vector<double> nearest;
};

/// One per GPU type. Consolidated placements only.
[[nodiscard]] std::vector<LeftOut> gavel_types_left_out(const GavelData& data, std::size_t most);
/// One per model, with all its batches; at most half of its rows are chosen.
[[nodiscard]] std::vector<LeftOut> gavel_models_left_out(const GavelData& data, std::size_t most);

}  // namespace rubato
