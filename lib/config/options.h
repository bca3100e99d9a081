// SPDX-License-Identifier: GPL-2.0-or-later
// The one table of what rubato.conf may say. Parser, help, man page and example follow it.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/base/error.h"
#include "lib/config/config.h"

namespace rubato {

enum class OptionType {
  kChoice,        ///< one of `words`
  kPartitions,    ///< names with commas between, or `all`
  kDuration,      ///< whole seconds, also in Slurm's time forms
  kFineDuration,  ///< the same, a fraction of a second allowed in plain seconds
  kInteger,
  kReal,
  kMemory,  ///< MiB, also with K, M, G or T behind the number
  kBand,    ///< a number, `inf` (infinity) or `auto` (kAutoBand)
  kPath,    ///< absolute
  kWords,   ///< some of `words`, with commas between
  kName,    ///< begins a record line; may stand on several lines
  kYesNo,
  kHint,  ///< a value of the hint `hint`
};

/// A word that an option takes, and what it means.
struct OptionWord {
  std::string name = {};
  std::string help = {};
  std::string argument = {};  ///< what follows as WORD:ARGUMENT; "" when nothing may
};

/// Where an option is kept. Options without a plain member are handled by their type.
using OptionField = std::variant<std::monostate, Mode Config::*, Seconds Config::*,
                                 double Config::*, int Config::*, std::string Config::*>;

/// One line of the table.
struct Option {
  std::string name = {};  ///< as people write it; keys are compared in any case
  OptionType type = OptionType::kChoice;
  std::string default_text = {};  ///< as it would be written; "" when there is none
  OptionField field = {};
  std::vector<OptionWord> words = {};  ///< kChoice and kWords
  double min = 0;  ///< range of numbers and durations, both ends allowed, in `unit`
  double max = 0;
  std::string unit = {};     ///< "seconds", "milliseconds" or ""
  std::string example = {};  ///< a value for the example file when the default is ""
  std::string help = {};     ///< one line, no full stop
  std::string text = {};     ///< whole sentences for the man page
  std::string record = {};   ///< name of the record line it belongs to, or ""
  std::string hint = {};     ///< key of the hint it stands for, for kHint
  bool reload_safe = true;   ///< takes effect at `scontrol reconfigure`
  bool test_only = false;    ///< accepted with RUBATO_TESTING=1 only
};

/// The table, in the order of the man page.
[[nodiscard]] const std::vector<Option>& options();

/// By name, in any case; null when there is none. `record` as in Option.
[[nodiscard]] const Option* find_option(std::string_view name, std::string_view record = "");

/// Sets `option` of `config` from the text of its value. The error says what is wrong with the
/// value and what would be right, without the name of the option. Not for kName and members of
/// records: see records.h.
[[nodiscard]] Result<void> set_option(const Option& option, const std::string& value,
                                      Config& config);

/// A number or duration of `option`, in its range.
[[nodiscard]] Result<double> option_number(const Option& option, const std::string& value);

/// The value that `set_option` would take to get what `config` has; "" when it is not set.
[[nodiscard]] std::string show_option(const Option& option, const Config& config);

/// The kind of value in a few words with its choices or range, e.g. "a whole number from 1 to 9".
[[nodiscard]] std::string describe_values(const Option& option);

/// Names of the `words`, in order.
[[nodiscard]] std::vector<std::string> word_names(const Option& option);

}  // namespace rubato
