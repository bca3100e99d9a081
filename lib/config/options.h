// SPDX-License-Identifier: GPL-2.0-or-later
// The table of the options of rubato.conf. It generates parser, help, man page and example.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/base/error.h"
#include "lib/config/config.h"

namespace rubato {

enum class OptionType {
  kChoice,        ///< one of `words`
  kPartitions,    ///< names separated by commas, or `all`
  kNames,         ///< names separated by commas
  kCounts,        ///< one whole number, or QOS:NUMBER separated by commas
  kDuration,      ///< whole seconds, also in Slurm's time forms
  kFineDuration,  ///< the same; plain seconds may have a fraction
  kInteger,
  kReal,
  kMemory,  ///< MiB, also with the suffix K, M, G or T
  kBand,    ///< a number, `inf` (infinity) or `auto` (kAutoBand)
  kPath,    ///< absolute
  kName,    ///< starts a record line; there may be several
  kYesNo,
  kHint,  ///< a value of the hint `hint`
};

/// A word that an option accepts, and its meaning.
struct OptionWord {
  std::string name = {};
  std::string help = {};
};

/// The member of Config that an option sets; none for options that their type handles.
using OptionField =
    std::variant<std::monostate, Mode Config::*, Seconds Config::*, double Config::*, int Config::*,
                 std::string Config::*, std::set<std::string> Config::*,
                 std::map<std::string, int> Config::*>;

/// One row of the table.
struct Option {
  std::string name = {};  ///< as written; keys ignore case
  OptionType type = OptionType::kChoice;
  std::string default_text = {};  ///< as written; "" if there is none
  OptionField field = {};
  std::vector<OptionWord> words = {};  ///< for kChoice
  double min = 0;                      ///< range of numbers and durations, inclusive, in `unit`
  double max = 0;
  std::string unit = {};     ///< "seconds", "milliseconds" or ""
  std::string example = {};  ///< a value for the example file if the default is ""
  std::string help = {};     ///< one line, no full stop
  std::string text = {};     ///< whole sentences for the man page
  std::string record = {};   ///< name of the record line it belongs to, or ""
  std::string hint = {};     ///< key of the hint that it sets, for kHint
  bool reload_safe = true;   ///< takes effect at `scontrol reconfigure`
};

/// The table, in man page order.
[[nodiscard]] const std::vector<Option>& options();

/// By name, in any case; null if unknown. `record` as in Option.
[[nodiscard]] const Option* find_option(std::string_view name, std::string_view record = "");

/// Sets `option` of `config` from the text of its value. The error names the value and what is
/// valid, but not the option. Not for kName and members of records: see records.h.
[[nodiscard]] Result<void> set_option(const Option& option, const std::string& value,
                                      Config& config);

/// Parses a number, memory size or duration of `option` and checks its range.
[[nodiscard]] Result<double> option_number(const Option& option, const std::string& value);

/// The text from which `set_option` sets the value in `config`; "" if it is not set.
[[nodiscard]] std::string show_option(const Option& option, const Config& config);

/// The valid values in a few words, for example "a whole number from 1 to 9".
[[nodiscard]] std::string describe_values(const Option& option);

/// Names of the `words`, in order.
[[nodiscard]] std::vector<std::string> word_names(const Option& option);

}  // namespace rubato
