// SPDX-License-Identifier: GPL-2.0-or-later
// Hints that are valid, or no hints at all, and probably not what the user meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lib/hints/hints.h"

namespace rubato {

/// What to write instead, for a comment without `rubato:` that looks like hints: "Rubato: gpus=4",
/// "rubato gpus=4".
[[nodiscard]] std::optional<std::string> misspelt_marker(std::string_view comment);

/// For a batch script: a signal that only job steps receive. Slurm sends it to the script with B:
/// only.
[[nodiscard]] std::optional<std::string> signal_for_steps_only(const Hints& hints);

}  // namespace rubato
