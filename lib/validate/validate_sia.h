// SPDX-License-Identifier: GPL-2.0-or-later
// The data-parallel model against the measured step times of the Sia and Pollux artifacts.
#pragma once

#include <string>

#include "lib/base/error.h"
#include "lib/validate/validate.h"

namespace rubato {

/// One cell an (application, GPU type): fitted on at most 10 rows of its placements, which the
/// model chose one after the other knowing only the values of those before, tested on all others.
/// Beside it the same 10 rows interpolated, and the family fitted on all rows and tested on the
/// same ones.
[[nodiscard]] Result<ValidateSection> validate_sia(const std::string& data_dir);

}  // namespace rubato
