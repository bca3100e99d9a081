// SPDX-License-Identifier: GPL-2.0-or-later
// One example of every wrong hint with its error: for the table in rubato-hints(7) and for the live
// scenarios. The errors are computed: the examples are parsed and checked.
#pragma once

#include <string>
#include <vector>

#include "lib/hints/facts.h"

namespace rubato {

/// A refused job.
struct WrongHint {
  std::string rule;  ///< HintRule::name; "" if the value alone is wrong
  RequestFacts facts;
  std::string hints;  ///< after rubato: in its comment

  /// "sbatch" or "salloc".
  [[nodiscard]] const char* program() const { return facts.batch ? "sbatch" : "salloc"; }
  /// Its Slurm request, as options: "--gpus=3".
  [[nodiscard]] std::string options() const;
  [[nodiscard]] std::string comment() const { return "rubato:" + hints; }
  /// The output of the submission, one line per mistake.
  [[nodiscard]] std::string error() const;
};

/// Wrong values first, then every rule of hint_rules(), in table order.
[[nodiscard]] const std::vector<WrongHint>& wrong_hints();

/// [{"rule","program","options","comment","error"}, ...], for the live scenarios.
[[nodiscard]] std::string wrong_hints_json();

}  // namespace rubato
