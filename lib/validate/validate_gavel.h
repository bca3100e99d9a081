// SPDX-License-Identifier: GPL-2.0-or-later
// Throughput over job types, GPU types and sizes: predicts each measurement from the others.
#pragma once

#include <string>

#include "lib/base/error.h"
#include "lib/validate/validate.h"

namespace rubato {

/// Uses Gavel's measurements (lib/validate/data_gavel.h) of consolidated placements. The throughput
/// model predicts each observation (model, GPU type, scale) with that observation left out. Its
/// standard deviations are fitted without the fifth of the observations that contains it. Two
/// baselines on the same observations:
///  - linear: the throughput of the model at the fewest other GPUs on that type (one GPU, unless
///    that is the observation), times the ratio of the scales; if the type has no other, as ratio.
///  - ratio: the geometric mean of the model's throughputs at that scale on other types, each times
///    the ratio of the types' speeds (geometric mean over all other observations that both types
///    have); if no other type has it, as linear.
/// Observations of 0 are infeasible configurations: they are neither predicted, since no error can
/// be relative to 0, nor used.
/// Summary: cells, mean, p90, linear_mean, ratio_mean, linear_p90, ratio_p90, infeasible.
[[nodiscard]] Result<ValidateSection> validate_gavel(const std::string& data_dir);

}  // namespace rubato
