// SPDX-License-Identifier: GPL-2.0-or-later
// Throughput over job types, GPU types and sizes: each measured cell predicted from the others.
#pragma once

#include <string>

#include "lib/base/error.h"
#include "lib/validate/validate.h"

namespace rubato {

/// On Gavel's measurements (lib/validate/data_gavel.h) of consolidated placements: each cell of
/// (model, GPU type, scale) is predicted by the throughput model with that cell left out, its
/// standard deviations learnt without a fifth of the cells to which it belongs. Beside it two
/// baselines, on the same cells:
///  - linear: the rate of the model at the fewest other GPUs on that type (one, where it is
///    another cell), times the ratio of the scales; where the type has no other, as the next one.
///  - ratio: the geometric mean of the model's rates at that scale on other types, each times the
///    ratio of the types' speeds (that of all other cells which both types have, geometric mean);
///    where no other type has it, as the one before.
/// Cells that a job does not fit (0) are measured to be infeasible: they are no target, since no
/// rate can be relative to 0, and teach none.
/// Summary: cells, mean, p90, linear_mean, ratio_mean, linear_p90, ratio_p90, infeasible.
[[nodiscard]] Result<ValidateSection> validate_gavel(const std::string& data_dir);

}  // namespace rubato
