// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/config/render.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/prose.h"
#include "lib/config/options.h"
#include "lib/config/values.h"

namespace rubato {
namespace {

/// 86400 -> "86400 seconds".
std::string with_unit(const std::string& value, const Option& option) {
  if (option.unit.empty()) return value;
  const std::string unit =
      value == "1" ? option.unit.substr(0, option.unit.size() - 1) : option.unit;
  return value + " " + unit;
}

/// "; default 10 seconds", or "" if there is none.
std::string default_of(const Option& option) {
  if (option.default_text.empty()) return "";
  return "; default " + with_unit(option.default_text, option);
}

}  // namespace

std::string option_facts(const Option& option) {
  std::string out = describe_values(option);
  if (option.type == OptionType::kName) return out + ", one line per type";
  out += default_of(option);
  if (!option.record.empty()) out += "; on a " + option.record + " line";
  return out;
}

std::string help_config() {
  std::string out =
      "rubato.conf is in the folder of slurm.conf and has the same syntax:\n"
      "Key=Value, # comments, a backslash joins lines, Include FILE. Times are\n"
      "seconds, MM:SS, HH:MM:SS or D-HH:MM:SS.\n";
  for (const Option& option : options()) {
    out += "\n" + option.name + "\n";
    out += wrapped(capital(option.help) + ".", "    ");
    out += wrapped(capital(option_facts(option)) + ".", "    ");
    for (const OptionWord& word : option.words) {
      out += wrapped(word.name + ": " + word.help, "      ");
    }
  }
  return out;
}

}  // namespace rubato
