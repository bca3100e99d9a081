// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato validate`: execution plans, fitted to few steps and tested on others.
#pragma once

#include <string>

#include "lib/base/error.h"
#include "lib/validate/validate.h"

namespace rubato {

/// Uses DATA_DIR/rubick. Each set of perf_model_validation is fitted alone and tested on the
/// profile that measured the same steps (found by times, not by name). The test rows are those of
/// one node with 1, 2, 4 or 8 GPUs, grouped by plan. Fitted rows are left out and listed. The gates
/// count groups with at least two test rows. Rows that no member of the family can fit, even when
/// fitted to the rows of their group, are reported and not counted. Plans with TP or PP: the model
/// chooses at most seven rows of a profile for the fit. The gates count the mean error on the
/// others, its ratio to that of the nearest measured plan, and the worst row.
[[nodiscard]] Result<ValidateSection> validate_rubick(const std::string& data_dir);

}  // namespace rubato
