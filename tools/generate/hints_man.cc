// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/generate/hints_man.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/prose.h"
#include "lib/hints/message.h"
#include "lib/hints/render.h"
#include "lib/hints/rules.h"
#include "lib/hints/wrong_hints.h"
#include "tools/generate/hints_man_text.h"

namespace rubato {
namespace {

std::string man_hint(const HintDef& def) {
  std::string out = fmt::format(".TP\n.BR {} \", \" {}\n", roff(hint_option_form(def)),
                                roff(hint_comment_form(def)));
  out += roff(capital(def.help)) + ".\n" + roff(def.text) + "\n" + roff(hint_facts(def)) + ".\n";
  out += fmt::format("Example: {}.\n", roff(fmt::format("{}={}", def.key, def.example)));
  if (def.words.empty()) return out;
  out += ".RS\n";
  for (const HintWord& word : def.words) {
    out += fmt::format(".TP\n.B {}\n{}.\n", roff(word.name), roff(capital(word.help)));
  }
  return out + ".RE\n";
}

std::string man_message(const MessageKind& kind) {
  std::string out = fmt::format(".TP\n.B {}\n{}, as in\n.IR \"{}\" .\n.RS\n", roff(kind.name),
                                roff(kind.help), roff(kind.example));
  for (const MessageField& field : kind.fields) {
    out += fmt::format(".TP\n.B {}\n{}: {}{}.\n", roff(field.key), roff(capital(field.help)),
                       roff(field.values), field.required ? "; must be there" : "");
  }
  return out + ".RE\n";
}

std::string man_wrong(const WrongHint& wrong) {
  const std::string blank = wrong.options().empty() ? "" : " ";
  std::string out = fmt::format(".PP\n.nf\n\\fB{}{}{} \\-\\-comment=\"{}\"\\fR\n", wrong.program(),
                                blank, roff(wrong.options()), roff(wrong.comment()));
  if (wrong.facts.het) out += "(as a component of a heterogeneous job)\n";
  out += ".fi\n.RS 4\n";
  const std::string error = wrong.error();
  for (std::size_t at = 0; at < error.size();) {
    const std::size_t end = std::min(error.find('\n', at), error.size());
    out += roff(error.substr(at, end - at)) + "\n" + (end < error.size() ? ".br\n" : "");
    at = end + 1;
  }
  return out + ".RE\n";
}

}  // namespace

std::string man_page_hints() {
  std::string out = kManTop;
  for (const HintDef& def : hint_table()) out += man_hint(def);
  out += kManReference;
  for (const HintRule& rule : hint_rules()) {
    out += fmt::format(".IP \\(bu 2\n{}.\n", roff(rule.summary));
  }
  out += kManMessages;
  for (const MessageKind& kind : message_kinds()) out += man_message(kind);
  out += kManEnd;
  for (const WrongHint& wrong : wrong_hints()) out += man_wrong(wrong);
  return out + kManSeeAlso;
}

}  // namespace rubato
