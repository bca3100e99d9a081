// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato validate`: the published fit of execution plans, done again.
#pragma once

#include <string>

#include "lib/base/error.h"
#include "lib/validate/validate.h"

namespace rubato {

/// Fits the published family to the seven steps of BERT that Rubick's artifact has (Zhang et al.,
/// MLSys 2025, perf_model_validation; Apache-2.0), printed in the code, and compares parameters and
/// errors with those that the authors publish. Reads nothing from `data_dir`.
[[nodiscard]] Result<ValidateSection> validate_bert(const std::string& data_dir);

}  // namespace rubato
