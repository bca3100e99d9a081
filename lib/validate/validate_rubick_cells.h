// SPDX-License-Identifier: GPL-2.0-or-later
// The cells of validate_rubick: rows to fit, rows to test, and how near the family can
// come.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/validate/data_rubick.h"

namespace rubato {

/// The profile that measured the steps of a fit set: that in which most of them are found, within a
/// tenth, at the same plan and GPUs of one node; of equals the one that differs least. None when
/// that is not more than half of them.
[[nodiscard]] const RubickProfile* profile_of(const RubickFitSet& set, const RubickData& data);

/// Rows of one plan.
struct RubickObservation {
  std::string plan;
  std::vector<RubickProfileRow> fitted;  ///< also in the fit set
  std::vector<RubickProfileRow> test;
};

/// Of the rows with 1, 2, 4 or 8 GPUs of one node and neither TP nor PP, by name of the plan; rows
/// get batch and cores of the fit set.
[[nodiscard]] std::vector<RubickObservation> observations_of(const RubickFitSet& set,
                                                             const RubickProfile& profile);

[[nodiscard]] ModelShape shape_of(const RubickFitSet& set);

[[nodiscard]] double error_of(const PlanTerms& terms, const ModelShape& shape,
                              const PlanSample& row);

/// What the family can do at best: fitted to the rows that it is tested on.
struct Floor {
  double max_error = 0;   ///< least that the worst row can be missed by
  double mean_error = 0;  ///< least mean
};
[[nodiscard]] Floor floor_of(const ModelShape& shape, const std::vector<RubickProfileRow>& rows);

}  // namespace rubato
