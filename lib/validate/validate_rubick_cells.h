// SPDX-License-Identifier: GPL-2.0-or-later
// The groups of validate_rubick: rows to fit, rows to test, and the best possible errors of the
// family.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/validate/data_rubick.h"

namespace rubato {

/// The profile that measured the steps of a fit set: the one that contains most of them, within a
/// tenth, at the same plan and GPUs of one node; of equals the closest. nullptr if it contains at
/// most half of them.
[[nodiscard]] const RubickProfile* profile_of(const RubickFitSet& set, const RubickData& data);

/// Rows of one plan.
struct RubickObservation {
  std::string plan;
  std::vector<RubickProfileRow> fitted;  ///< rows that are also in the fit set
  std::vector<RubickProfileRow> test;
};

/// Rows with 1, 2, 4 or 8 GPUs of one node and neither TP nor PP, grouped by the name of the plan.
/// Rows get batch and cores of the fit set.
[[nodiscard]] std::vector<RubickObservation> observations_of(const RubickFitSet& set,
                                                             const RubickProfile& profile);

[[nodiscard]] ModelShape shape_of(const RubickFitSet& set);

[[nodiscard]] double error_of(const PlanTerms& terms, const ModelShape& shape,
                              const PlanSample& row);

/// The best possible errors of the family: fitted to the test rows.
struct Floor {
  double max_error = 0;   ///< minimum over fits of the largest error
  double mean_error = 0;  ///< minimum of the mean
};
[[nodiscard]] Floor floor_of(const ModelShape& shape, const std::vector<RubickProfileRow>& rows);

}  // namespace rubato
