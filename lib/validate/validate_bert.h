// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato validate`: reproduces the published fit of execution plans.
#pragma once

#include <string>

#include "lib/base/error.h"
#include "lib/validate/validate.h"

namespace rubato {

/// Fits the published family to the seven steps of BERT in Rubick's artifact (Zhang et al., MLSys
/// 2025, perf_model_validation; Apache-2.0), which are in the code. Compares parameters and errors
/// with those that the authors publish. Reads nothing from `data_dir`.
[[nodiscard]] Result<ValidateSection> validate_bert(const std::string& data_dir);

}  // namespace rubato
