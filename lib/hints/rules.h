// SPDX-License-Identifier: GPL-2.0-or-later
// The table of refused combinations of hints and request.
#pragma once

#include <string>
#include <vector>

#include "lib/hints/request.h"

namespace rubato {

/// The input of a rule.
struct RuleCase {
  const Hints& hints;
  const HintRequest& request;
  Spelling spelling = Spelling::kOption;

  /// The name of a hint as the job writes it: "--dl-gpus", "gpus".
  [[nodiscard]] std::string word(HintField field) const;
  /// A hint with a value as the job writes it: "--dl-gpus=1,2", "gpus=1,2".
  [[nodiscard]] std::string line(HintField field, const std::string& value) const;
};

/// One row of the table.
struct HintRule {
  const char* name;
  const char* summary;  ///< one sentence for the man page, no full stop
  /// The hints that can break the rule; without any of them it holds.
  std::vector<HintField> fields;
  /// Adds one line per mistake.
  void (*check)(const RuleCase& at, std::vector<std::string>& errors);
  bool ends = false;  ///< if it is broken, later rules are not checked
};

/// The table, in the order in which errors are listed.
[[nodiscard]] const std::vector<HintRule>& hint_rules();

/// The parts of the table.
[[nodiscard]] std::vector<HintRule> rules_of_place();  ///< GPUs or not, types, devices
[[nodiscard]] std::vector<HintRule> rules_of_size();
[[nodiscard]] std::vector<HintRule> rules_of_change();  ///< checkpoint and resize
[[nodiscard]] std::vector<HintRule> rules_of_work();    ///< plans, model, steps

}  // namespace rubato
