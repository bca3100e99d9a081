// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/config/test_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/lex.h"
#include "lib/base/nearest.h"
#include "lib/config/fault.h"
#include "lib/config/mechanism.h"
#include "lib/config/values.h"

namespace rubato {
namespace {

constexpr double kMaxArgument = 1e6;

bool set_off(std::string_view word, double /*argument*/, Config& config) {
  return config.test_off.insert(*find_mechanism(word)).second;
}

std::vector<std::string> show_off(const Config& config) {
  std::vector<std::string> words;
  for (const Mechanism mechanism : config.test_off) words.emplace_back(to_string(mechanism));
  return words;
}

bool set_inject(std::string_view word, double argument, Config& config) {
  return config.test_inject.emplace(*find_fault(word), argument).second;
}

std::vector<std::string> show_inject(const Config& config) {
  std::vector<std::string> words;
  for (const auto& [fault, argument] : config.test_inject) {
    const FaultWord& row = fault_word(fault);
    words.emplace_back(row.word);
    if (!row.argument.empty()) words.back() += ":" + show_number(argument);
  }
  return words;
}

std::vector<TestWord> off_words() {
  std::vector<TestWord> words;
  for (const MechanismWord& row : kMechanisms)
    words.push_back({std::string(row.word), "", std::string(row.help)});
  return words;
}

std::vector<TestWord> inject_words() {
  std::vector<TestWord> words;
  for (const FaultWord& row : kFaults)
    words.push_back({std::string(row.word), std::string(row.argument), std::string(row.help)});
  return words;
}

Result<double> argument_of(const TestWord& word, const std::string& item, std::size_t colon) {
  const bool given = colon != std::string::npos;
  if (word.argument.empty()) {
    if (given) return fail(fmt::format("{} takes no argument", word.name));
    return 0.0;
  }
  auto number = parse_number(given ? item.substr(colon + 1) : "");
  if (!number || *number > kMaxArgument) {
    return fail(fmt::format("{} needs a number from 0 to {}; write {}:{}", word.name,
                            show_number(kMaxArgument), word.name, word.argument));
  }
  return number;
}

Result<void> set_word(const TestOption& option, const std::string& item, Config& config) {
  const std::size_t colon = item.find(':');
  const std::string name = lower(item.substr(0, colon));
  const auto known = std::ranges::find(option.words, name, &TestWord::name);
  if (known == option.words.end()) {
    std::vector<std::string> names;
    for (const TestWord& word : option.words) names.push_back(word.name);
    return fail(fmt::format("{} must be one of {}{}", in_quotes(name), fmt::join(names, ", "),
                            did_you_mean(name, names)));
  }
  const auto argument = argument_of(*known, item, colon);
  if (!argument) return tl::unexpected(argument.error());
  if (!option.set(name, *argument, config))
    return fail(fmt::format("{} is listed twice", in_quotes(name)));
  return {};
}

}  // namespace

const std::array<TestOption, 2>& test_options() {
  static const std::array<TestOption, 2> table{
      TestOption{"TestOff", off_words(), set_off, show_off},
      TestOption{"TestInject", inject_words(), set_inject, show_inject}};
  return table;
}

const TestOption* find_test_option(std::string_view name) {
  const std::string wanted = lower(name);
  for (const TestOption& option : test_options())
    if (lower(option.name) == wanted) return &option;
  return nullptr;
}

Result<void> set_test_option(const TestOption& option, const std::string& value, Config& config) {
  const auto items = split_list(value);
  if (!items) return tl::unexpected(items.error());
  for (const std::string& item : *items) {
    if (auto good = set_word(option, item, config); !good) return good;
  }
  return {};
}

std::string show_test_option(const TestOption& option, const Config& config) {
  std::vector<std::string> items = option.show(config);
  std::ranges::sort(items);
  return fmt::format("{}", fmt::join(items, ","));
}

std::string test_options_markdown() {
  std::string out;
  for (const TestOption& option : test_options()) {
    out += fmt::format("{}| `{}` | |\n| --- | --- |\n", out.empty() ? "" : "\n", option.name);
    for (const TestWord& word : option.words) {
      out += fmt::format("| `{}{}{}` | {} |\n", word.name, word.argument.empty() ? "" : ":",
                         word.argument, word.help);
    }
  }
  return out;
}

}  // namespace rubato
