// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/hints/statements.h"

#include <fmt/format.h>

#include <map>

#include "lib/hints/values.h"

namespace rubato {
namespace {

constexpr std::size_t kMaxErrors = 20;

/// The effective statement for each row of the table, in table order.
std::vector<const HintStatement*> that_count(const std::vector<HintStatement>& statements,
                                             Repeated repeated, HintErrors& errors) {
  std::map<const HintDef*, const HintStatement*> by_row;  // rows are in one vector
  for (const HintStatement& statement : statements) {
    const auto [at, fresh] = by_row.emplace(statement.def, &statement);
    if (fresh || repeated == Repeated::kLastCounts) {
      at->second = &statement;
    } else if (at->second->off != statement.off) {
      errors.add(fmt::format("{}: {} is both set and unset; keep one", statement.place,
                             statement.def->key));
    } else {
      errors.add(fmt::format("{}: set twice; keep one", statement.place));
    }
  }
  std::vector<const HintStatement*> out;
  out.reserve(by_row.size());
  for (const auto& [row, statement] : by_row) out.push_back(statement);
  return out;
}

}  // namespace

Error HintErrors::all() const {
  std::string text;
  for (std::size_t i = 0; i < lines_.size() && i < kMaxErrors; ++i) {
    if (i > 0) text += '\n';
    text += lines_[i];
  }
  if (lines_.size() > kMaxErrors) {
    text += fmt::format("\nand {} more errors", lines_.size() - kMaxErrors);
  }
  return {text};
}

Hints hints_of(const std::vector<HintStatement>& statements, Repeated repeated,
               HintErrors& errors) {
  Hints out;
  std::map<HintField, const HintStatement*> set;
  const auto counting = that_count(statements, repeated, errors);
  for (const HintStatement* statement : counting) {
    if (statement->off) continue;
    const HintDef& def = *statement->def;
    const auto [first, fresh] = set.emplace(def.field, statement);
    if (!fresh) {
      errors.add(fmt::format("{}: {} already sets the total work; keep one", statement->place,
                             first->second->def->key));
    } else if (const auto good = set_hint(def, statement->value, out); !good) {
      errors.add(fmt::format("{}: {}", statement->place, good.error().text));
    }
  }
  for (const HintStatement* statement : counting) {
    const HintField field = statement->def->field;
    if (statement->off && !set.contains(field)) out.unset.insert(field);
  }
  return out;
}

}  // namespace rubato
