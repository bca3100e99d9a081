// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/hints/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lib/base/lex.h"
#include "lib/base/nearest.h"

namespace rubato {
namespace {

constexpr std::string_view kVariables = "RUBATO_DL_";

const HintOption* find_option_name(std::string_view name) {
  for (const HintOption& option : hint_options()) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

std::string unknown_option(std::string_view name) {
  std::vector<std::string> choices;
  const bool off = name.starts_with("no-");
  for (const HintOption& option : hint_options()) {
    if (option.off == off) choices.push_back("--" + option.name);
  }
  const std::string near = name.empty() ? "" : did_you_mean(fmt::format("--{}", name), choices);
  return fmt::format("--{}: unknown option{}", printable(name),
                     near.empty() ? "; see rubato-hints(7)" : near);
}

std::string unknown_variable(std::string_view name) {
  std::vector<std::string> choices;
  for (const HintDef& def : hint_table()) choices.push_back(def.variable);
  const std::string near = did_you_mean(name, choices);
  return fmt::format("{}: unknown variable{}", printable(name),
                     near.empty() ? "; see rubato-hints(7)" : near);
}

}  // namespace

Hints read_options(std::span<const OptionPair> options, HintErrors& errors) {
  std::vector<HintStatement> statements;
  for (const auto& [given, value] : options) {
    std::string_view name = given;
    name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
    const HintOption* option = find_option_name(name);
    if (option == nullptr) {
      errors.add(unknown_option(name));
    } else if (option->off && !value.empty()) {
      errors.add(fmt::format("--{}: takes no value; write --{} alone", option->name, option->name));
    } else {
      statements.push_back({option->def, value, option->off, "--" + option->name});
    }
  }
  return hints_of(statements, Repeated::kLastCounts, errors);
}

Hints read_environment(std::span<const std::string> environment, HintErrors& errors) {
  std::vector<HintStatement> statements;
  std::set<std::string_view> seen;
  for (const std::string_view entry : environment) {
    if (!entry.starts_with(kVariables)) continue;
    const std::size_t equals = entry.find('=');
    const std::string_view name = entry.substr(0, equals);
    if (equals == std::string_view::npos || !seen.insert(name).second) continue;
    const std::string_view value = entry.substr(equals + 1);
    if (value.empty()) continue;
    const auto& table = hint_table();
    const auto def = std::find_if(table.begin(), table.end(),
                                  [&](const HintDef& row) { return row.variable == name; });
    if (def == table.end()) {
      errors.add(unknown_variable(name));
    } else {
      statements.push_back({&*def, std::string(value), false, def->variable});
    }
  }
  return hints_of(statements, Repeated::kRefused, errors);
}

Result<Hints> parse_options(std::span<const OptionPair> options) {
  return parse_hints({.options = options});
}

Result<Hints> parse_environment(std::span<const std::string> environment) {
  return parse_hints({.environment = environment});
}

Result<Hints> parse_hints(const HintTexts& texts) {
  HintErrors errors;
  const Hints options = read_options(texts.options, errors);
  const Hints environment = read_environment(texts.environment, errors);
  const Hints comment = read_comment(texts.comment, errors);
  if (!errors.none()) return tl::unexpected(errors.all());
  return merge(options, environment, comment);
}

}  // namespace rubato
