// SPDX-License-Identifier: GPL-2.0-or-later
// The one table of what a job may say. Options, comment, environment, help and man page follow it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/hints/hints.h"

namespace rubato {

enum class HintType {
  kName,    ///< letters, digits and . _ + : @ -
  kSizes,   ///< numbers and ranges with commas between
  kTypes,   ///< GPU types with , / > between
  kBatch,   ///< a count or a range of counts
  kCount,   ///< a whole number, also as 7e9
  kLoss,    ///< a positive number
  kModel,   ///< NAME=COUNT with commas between, of `words`
  kPlans,   ///< `auto`, or some of `words`
  kSignal,  ///< [R|B:]SIG[@SECONDS] or none
  kChoice,  ///< one of `words`
  kFlag,    ///< no value, or yes or no
};

/// A word that a hint takes, and what it means.
struct HintWord {
  std::string name;
  std::string help;
};

/// One line of the table.
struct HintDef {
  HintField field = HintField::kJobType;
  HintType type = HintType::kName;
  std::string key = {};           ///< in the comment: "gpu-types"
  std::string option = {};        ///< of sbatch, without dashes: "dl-gpu-types"
  std::string off_option = {};    ///< its twin that takes it back: "no-dl-gpu-types"
  std::string variable = {};      ///< of the environment: "RUBATO_DL_GPU_TYPES"
  std::string argument = {};      ///< the value in help texts: "TYPES"; "" for kFlag
  std::string default_text = {};  ///< what holds when nothing is said, in words
  std::vector<HintWord> words = {};
  std::string example = {};  ///< a value
  std::string help = {};     ///< one line, no full stop
  std::string text = {};     ///< whole sentences for the man page
};

/// The table, in the order of the man page.
[[nodiscard]] const std::vector<HintDef>& hint_table();

/// By key of the comment, in any case; null when there is none.
[[nodiscard]] const HintDef* find_hint(std::string_view key);
/// The first row of `field`.
[[nodiscard]] const HintDef& hint_of(HintField field);
/// All keys, in order.
[[nodiscard]] std::vector<std::string> hint_keys();

/// Names of the `words`, in order.
[[nodiscard]] std::vector<std::string> word_names(const HintDef& def);

/// An option as SPANK registers it.
struct HintOption {
  std::string name;      ///< without dashes
  std::string argument;  ///< name of the argument; "" when it takes none
  std::string usage;     ///< one line
  const HintDef* def = nullptr;
  bool off = false;  ///< a no- twin
};

/// Every option and its no- twin, in order. For spank_option_register in every context.
[[nodiscard]] const std::vector<HintOption>& hint_options();

}  // namespace rubato
