// SPDX-License-Identifier: GPL-2.0-or-later
// The table of hints as text.
#pragma once

#include <string>

#include "lib/hints/table.h"

namespace rubato {

/// The option of a hint with its argument: "--dl-gpus=SIZES".
[[nodiscard]] std::string hint_option_form(const HintDef& def);
/// The hint in comment form: "gpus=SIZES".
[[nodiscard]] std::string hint_comment_form(const HintDef& def);
/// The valid values and the default of a hint.
[[nodiscard]] std::string hint_facts(const HintDef& def);

/// The output of `rubato hints`: one paragraph per hint, lines of at most 79 columns.
[[nodiscard]] std::string help_hints();

}  // namespace rubato
