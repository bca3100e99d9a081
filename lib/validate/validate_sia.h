// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the data-parallel model on the measured step times of the Sia and Pollux artifacts.
#pragma once

#include <string>

#include "lib/base/error.h"
#include "lib/validate/validate.h"

namespace rubato {

/// One observation per (application, GPU type): fitted to at most 10 rows of its placements, tested
/// on all others. The model chooses the rows one by one and knows only the values of earlier ones.
/// Baselines: interpolation of the same 10 rows, and the family fitted to all rows and tested on
/// the same ones.
[[nodiscard]] Result<ValidateSection> validate_sia(const std::string& data_dir);

}  // namespace rubato
