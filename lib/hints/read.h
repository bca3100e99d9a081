// SPDX-License-Identifier: GPL-2.0-or-later
// The hints of a job as it says them: options, environment and comment.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "lib/base/error.h"
#include "lib/hints/hints.h"
#include "lib/hints/statements.h"

namespace rubato {

/// Name of an option, with or without the dashes before it, and its value ("" when it has none).
using OptionPair = std::pair<std::string, std::string>;

/// All that a job says, each member one layer, from strong to weak.
struct HintTexts {
  std::span<const OptionPair> options = {};       ///< in the order in which they were given
  std::span<const std::string> environment = {};  ///< NAME=VALUE; other variables are no matter
  std::string_view comment = {};
};

/// Hints of the --dl-* options and their --no-dl-* twins. Of one option given several times, or
/// given and taken back, the last counts, as a command line comes after the #SBATCH lines.
[[nodiscard]] Result<Hints> parse_options(std::span<const OptionPair> options);

/// Hints of RUBATO_DL_* variables. An empty value is no value; the first of two of one name counts,
/// as for getenv. A RUBATO_DL_ variable of another name is an error.
[[nodiscard]] Result<Hints> parse_environment(std::span<const std::string> environment);

/// The three layers merged; the errors of all three at once.
[[nodiscard]] Result<Hints> parse_hints(const HintTexts& texts);

/// The same for one layer, with the errors added to `errors`.
[[nodiscard]] Hints read_options(std::span<const OptionPair> options, HintErrors& errors);
[[nodiscard]] Hints read_environment(std::span<const std::string> environment, HintErrors& errors);
[[nodiscard]] Hints read_comment(std::string_view comment, HintErrors& errors);

}  // namespace rubato
