// SPDX-License-Identifier: GPL-2.0-or-later
// The table of hints. It generates options, comment, environment, help and man page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/hints/hints.h"

namespace rubato {

enum class HintType {
  kName,    ///< letters, digits and . _ + : @ -
  kSizes,   ///< numbers and ranges separated by commas
  kTypes,   ///< GPU types separated by , / >
  kBatch,   ///< a count or a range of counts
  kCount,   ///< an integer, also as 7e9
  kLoss,    ///< a positive number
  kModel,   ///< NAME=COUNT separated by commas, NAME from `words`
  kPlans,   ///< `auto`, or some of `words`
  kSignal,  ///< [R|B:]SIG[@SECONDS] or none
  kChoice,  ///< one of `words`
  kFlag,    ///< no value, or yes or no
};

/// A word that a hint accepts, and its meaning.
struct HintWord {
  std::string name;
  std::string help;
};

/// One row of the table.
struct HintDef {
  HintField field = HintField::kJobType;
  HintType type = HintType::kName;
  std::string key = {};           ///< in the comment: "gpu-types"
  std::string option = {};        ///< of sbatch, without dashes: "dl-gpu-types"
  std::string off_option = {};    ///< the option that unsets it: "no-dl-gpu-types"
  std::string variable = {};      ///< environment variable: "RUBATO_DL_GPU_TYPES"
  std::string argument = {};      ///< the value in help texts: "TYPES"; "" for kFlag
  std::string default_text = {};  ///< the default, in words
  std::vector<HintWord> words = {};
  std::string example = {};  ///< a value
  std::string help = {};     ///< one line, no full stop
  std::string text = {};     ///< whole sentences for the man page
};

/// The table, in man page order.
[[nodiscard]] const std::vector<HintDef>& hint_table();

/// By key in any case; null if unknown.
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
  std::string argument;  ///< name of the argument; "" if it has none
  std::string usage;     ///< one line
  const HintDef* def = nullptr;
  bool off = false;  ///< a no- option
};

/// Every option and its no- option, in order, for spank_option_register.
[[nodiscard]] const std::vector<HintOption>& hint_options();

}  // namespace rubato
