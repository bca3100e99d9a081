// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a job's hints from options, environment and comment.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "lib/base/error.h"
#include "lib/hints/hints.h"
#include "lib/hints/statements.h"

namespace rubato {

/// Name of an option, with or without leading dashes, and its value ("" if it has none).
using OptionPair = std::pair<std::string, std::string>;

/// The texts with a job's hints, one member per layer, from strong to weak.
struct HintTexts {
  std::span<const OptionPair> options = {};       ///< in the order given
  std::span<const std::string> environment = {};  ///< NAME=VALUE; other variables are ignored
  std::string_view comment = {};
};

/// Hints of the --dl-* options and their --no-dl-* twins. If an option is repeated or unset, the
/// last one counts, since the command line follows the #SBATCH lines.
[[nodiscard]] Result<Hints> parse_options(std::span<const OptionPair> options);

/// Hints of RUBATO_DL_* variables. An empty value counts as no value. Of two with one name the
/// first counts, as in getenv. An unknown RUBATO_DL_ variable is an error.
[[nodiscard]] Result<Hints> parse_environment(std::span<const std::string> environment);

/// The three layers merged; reports the errors of all three.
[[nodiscard]] Result<Hints> parse_hints(const HintTexts& texts);

/// The same for one layer; adds errors to `errors`.
[[nodiscard]] Hints read_options(std::span<const OptionPair> options, HintErrors& errors);
[[nodiscard]] Hints read_environment(std::span<const std::string> environment, HintErrors& errors);
[[nodiscard]] Hints read_comment(std::string_view comment, HintErrors& errors);

}  // namespace rubato
