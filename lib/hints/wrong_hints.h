// SPDX-License-Identifier: GPL-2.0-or-later
// One example of every wrong hint, with the error it gets: the table in rubato-hints(7), and what
// the live scenarios submit. The errors are not written down: the examples are parsed and checked.
#pragma once

#include <string>
#include <vector>

#include "lib/hints/facts.h"

namespace rubato {

/// A job that is refused.
struct WrongHint {
  std::string rule;  ///< HintRule::name; "" where the value alone is wrong
  RequestFacts facts;
  std::string hints;  ///< behind rubato: in its comment

  /// "sbatch" or "salloc".
  [[nodiscard]] const char* program() const { return facts.batch ? "sbatch" : "salloc"; }
  /// What it asks Slurm for, as options: "--gpus=3".
  [[nodiscard]] std::string options() const;
  [[nodiscard]] std::string comment() const { return "rubato:" + hints; }
  /// What the submission prints, a line for each thing that is wrong.
  [[nodiscard]] std::string error() const;
};

/// Wrong values first, then every rule of hint_rules(), in the order of the tables.
[[nodiscard]] const std::vector<WrongHint>& wrong_hints();

/// [{"rule","program","options","comment","error"}, ...], for the live scenarios.
[[nodiscard]] std::string wrong_hints_json();

}  // namespace rubato
