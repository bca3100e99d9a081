// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "tools/rubato/simulate/simulate_input.h"
#include "tools/shared/command.h"

namespace rubato::tools {

/// Says what stands against the files that are to be written, before hours go into a run; kOk for
/// nothing.
[[nodiscard]] int check_outputs(const Globals& globals, const char* schema,
                                const SimulateOptions& options);

}  // namespace rubato::tools
