// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/hints/render.h"

#include <fmt/format.h>

#include "lib/base/prose.h"
#include "lib/hints/values.h"

namespace rubato {

std::string hint_option_form(const HintDef& def) {
  return def.argument.empty() ? "--" + def.option
                              : fmt::format("--{}={}", def.option, def.argument);
}

std::string hint_comment_form(const HintDef& def) {
  return def.argument.empty() ? def.key : fmt::format("{}={}", def.key, def.argument);
}

std::string hint_facts(const HintDef& def) {
  return fmt::format("{}; default {}", capital(describe_values(def)), def.default_text);
}

std::string help_hints() {
  std::string out;
  for (const HintDef& def : hint_table()) {
    if (!out.empty()) out += '\n';
    out += fmt::format("{}   in a comment: {}\n", hint_option_form(def), hint_comment_form(def));
    out += wrapped(capital(def.help) + ".", "    ") + wrapped(hint_facts(def) + ".", "    ");
    for (const HintWord& word : def.words) out += wrapped(word.name + ": " + word.help, "      ");
  }
  return out;
}

}  // namespace rubato
