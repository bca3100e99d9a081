// SPDX-License-Identifier: GPL-2.0-or-later
// Predicts the reports of a store one by one: `rubato validate --store FILE`.
#pragma once

#include <string>

#include "lib/base/error.h"
#include "lib/config/config.h"
#include "lib/validate/validate.h"

namespace rubato::tools {

/// Cells have the source "present" or "plain" (see replay_both), the job type as model and the GPU
/// type as plan. Speeds of GPU types, WarmUp, ModelHalfLife and which profiles are shared are those
/// of `config`.
[[nodiscard]] Result<ValidateSection> replay_store(const std::string& file, const Config& config);

}  // namespace rubato::tools
