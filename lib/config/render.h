// SPDX-License-Identifier: GPL-2.0-or-later
// The table of options as text.
#pragma once

#include <string>

#include "lib/config/options.h"

namespace rubato {

/// The valid values, default and record line of an option, for example "a whole number from 1 to
/// 1000; default 4".
[[nodiscard]] std::string option_facts(const Option& option);

/// The output of `rubato doctor --help-config`: one paragraph per option, lines of at most 79
/// columns.
[[nodiscard]] std::string help_config();

}  // namespace rubato
