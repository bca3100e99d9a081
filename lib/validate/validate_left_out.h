// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato validate`: a GPU type, or a model, that no fit has seen.
#pragma once

#include <string>

#include "lib/base/error.h"
#include "lib/validate/validate.h"

namespace rubato {

/// Leaves out each GPU type of the sets of Gavel, Sia, Pollux and Rubick in turn, then each model,
/// and chooses a few rows of it (ten; seven of Rubick's plans). Fits may use all other rows of the
/// set, and hyperparameters are fitted without what is left out. All other rows of it are tested.
/// Each error is given with that of the nearest measured configuration in log space: of the same
/// model, times the ratio of GPU types in configurations that both have, and in proportion to the
/// GPUs (Gavel), or the step time (Sia, Pollux, Rubick). Pollux and Rubick have one GPU type. A set
/// without files is left out with a note. Summary: per set the mean of these means.
[[nodiscard]] Result<ValidateSection> validate_left_out(const std::string& data_dir);

}  // namespace rubato
