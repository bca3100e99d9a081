// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato validate`: execution plans, fitted to few steps and held to others.
#pragma once

#include <string>

#include "lib/base/error.h"
#include "lib/validate/validate.h"

namespace rubato {

/// On DATA_DIR/rubick. Each set of perf_model_validation is fitted alone and tested on the profile
/// that measured the same steps (found by the times, not by name): the rows of one node with 1, 2,
/// 4 or 8 GPUs, a cell a plan, those that were fitted to left out and listed. The gates count cells
/// with at least two test rows. Rows that no member of the family can meet, fitted to the very
/// rows of their cell, are reported and not counted. Plans with TP or PP: at most seven rows of a
/// profile, chosen by the model, are fitted to, and the error on the others is reported.
[[nodiscard]] Result<ValidateSection> validate_rubick(const std::string& data_dir);

}  // namespace rubato
