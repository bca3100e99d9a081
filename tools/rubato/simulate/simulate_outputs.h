// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "tools/rubato/simulate/simulate_input.h"
#include "tools/shared/command.h"

namespace rubato::tools {

/// Reports why output files cannot be written, before the long runs start; kOk if they can.
[[nodiscard]] int check_outputs(const Globals& globals, const char* schema,
                                const SimulateOptions& options);

}  // namespace rubato::tools
