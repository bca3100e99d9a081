// SPDX-License-Identifier: GPL-2.0-or-later
// Errors of the models on measured data where few rows are chosen and all others are tested. For
// the sections of `rubato validate` that share them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lib/validate/data_rubick.h"
#include "lib/validate/data_sia.h"

namespace rubato {

/// Relative errors of the step times of rows that were not chosen.
struct StepErrors {
  std::size_t chosen = 0;
  std::vector<double> ours;
  std::vector<double> interpolated;  ///< between the chosen rows
  std::vector<double> nearest;       ///< step time of the nearest chosen row
  std::vector<double> full;          ///< the family fitted to all rows; empty if not wanted
};

/// Of one application on one GPU type. The data-parallel model chooses at most `most` rows, one by
/// one; it knows only the values of earlier ones. Nearest: by the distance of the logarithms of
/// local batch, GPUs and nodes.
[[nodiscard]] StepErrors step_errors(const std::vector<SiaStep>& rows, std::size_t most,
                                     bool with_full);

/// Of the rows of a model with tensor or pipeline parallelism. Nearest: by the distance of the
/// logarithms of the degrees of pipeline, tensor and data parallelism.
struct SplitErrors {
  std::string model;
  std::size_t chosen = 0;
  std::vector<double> ours;
  std::vector<double> nearest;
};
/// One per profile with more than seven such rows; seven are chosen.
[[nodiscard]] std::vector<SplitErrors> split_errors(const RubickData& data);

}  // namespace rubato
