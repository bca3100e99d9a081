// SPDX-License-Identifier: GPL-2.0-or-later
// Values of options: from text into a Config, and back.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "lib/base/lex.h"
#include "lib/base/nearest.h"
#include "lib/config/options.h"
#include "lib/config/values.h"
#include "lib/hints/values.h"

namespace rubato {
namespace {

tl::unexpected<Error> out_of_range(const Option& option, const std::string& value) {
  return fail(
      fmt::format("{} is out of range; choose {}", in_quotes(value), describe_values(option)));
}

Result<void> set_number(const Option& option, const std::string& value, Config& config) {
  const auto number = option_number(option, value);
  if (!number) return tl::unexpected(number.error());
  if (const auto* seconds = std::get_if<Seconds Config::*>(&option.field)) {
    config.*(*seconds) = static_cast<Seconds>(*number);
  } else if (const auto* integer = std::get_if<int Config::*>(&option.field)) {
    config.*(*integer) = static_cast<int>(*number);
  } else if (const auto* real = std::get_if<double Config::*>(&option.field)) {
    config.*(*real) = *number;
  }
  return {};
}

// Words in any case, as choices are.
Result<void> set_band(const Option& option, const std::string& value, Config& config) {
  const auto* field = std::get_if<double Config::*>(&option.field);
  const std::string word = lower(value);
  for (const auto& [name, number] :
       {std::pair("auto", kAutoBand), std::pair("inf", std::numeric_limits<double>::infinity())}) {
    if (word != name || field == nullptr) continue;
    config.*(*field) = number;
    return {};
  }
  return set_number(option, value, config);
}

Result<void> set_choice(const Option& option, const std::string& value, Config& config) {
  const auto names = word_names(option);
  const std::string word = lower(value);
  if (option.name == "Mode" && word == "elastic") {
    return fail("elastic is not in this release, which has observe and place");
  }
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) {
    return fail(fmt::format("{} is not {}{}", in_quotes(value), describe_values(option),
                            did_you_mean(value, names)));
  }
  if (const auto* mode = std::get_if<Mode Config::*>(&option.field)) {
    config.*(*mode) = word == "place" ? Mode::kPlace : Mode::kObserve;
  } else if (const auto* text = std::get_if<std::string Config::*>(&option.field)) {
    config.*(*text) = word;
  }
  return {};
}

Result<void> set_partitions(const std::string& value, Config& config) {
  const auto names = split_list(value);
  if (!names) return tl::unexpected(names.error());
  const auto is_all = [](const std::string& name) { return lower(name) == "all"; };
  if (std::any_of(names->begin(), names->end(), is_all)) {
    if (names->size() > 1) return fail("\"all\" stands alone, without names beside it");
    config.manage_all = true;
    return {};
  }
  for (const std::string& name : *names) {
    if (auto good = check_name(name); !good) return good;
    if (!config.managed_partitions.insert(name).second) {
      return fail(fmt::format("{} is named twice", in_quotes(name)));
    }
  }
  return {};
}

Result<void> set_path(const Option& option, const std::string& value, Config& config) {
  if (!value.starts_with('/')) {
    return fail(fmt::format("{} is not an absolute path", in_quotes(value)));
  }
  const auto bad = std::find_if(value.begin(), value.end(),
                                [](unsigned char c) { return c < 0x20 || c == 0x7F || c == '"'; });
  if (bad != value.end()) {
    return fail(fmt::format("{} holds a quote or a control character", in_quotes(value)));
  }
  if (const auto* text = std::get_if<std::string Config::*>(&option.field)) {
    config.*(*text) = value;
  }
  return {};
}

const OptionWord* find_word(const Option& option, const std::string& name) {
  for (const OptionWord& word : option.words) {
    if (word.name == name) return &word;
  }
  return nullptr;
}

/// One word of TestOff or TestInject, with its argument.
Result<void> set_word(const Option& option, const std::string& item, Config& config) {
  const std::size_t colon = item.find(':');
  const std::string word = lower(item.substr(0, colon));
  const OptionWord* known = find_word(option, word);
  if (known == nullptr) {
    return fail(fmt::format("{} is not {}{}", in_quotes(word), describe_values(option),
                            did_you_mean(word, word_names(option))));
  }
  double argument = 0;
  if (known->argument.empty() && colon != std::string::npos) {
    return fail(fmt::format("{} takes nothing after it", word));
  }
  if (!known->argument.empty()) {
    const auto number = parse_number(colon == std::string::npos ? "" : item.substr(colon + 1));
    if (!number || *number > option.max) {
      return fail(fmt::format("{} needs a number from 0 to {}; write {}:{}", word,
                              show_number(option.max), word, known->argument));
    }
    argument = *number;
  }
  const bool fresh = option.name == "TestOff" ? config.test_off.insert(*find_mechanism(word)).second
                                              : config.test_inject.emplace(word, argument).second;
  if (!fresh) return fail(fmt::format("{} is named twice", in_quotes(word)));
  return {};
}

Result<void> set_words(const Option& option, const std::string& value, Config& config) {
  const auto items = split_list(value);
  if (!items) return tl::unexpected(items.error());
  for (const std::string& item : *items) {
    if (auto good = set_word(option, item, config); !good) return good;
  }
  return {};
}

std::string show_words(const Option& option, const Config& config) {
  std::vector<std::string> items;
  if (option.name == "TestOff") {
    for (const Mechanism mechanism : config.test_off) items.emplace_back(to_string(mechanism));
    std::ranges::sort(items);
  }
  if (option.name == "TestInject") {
    for (const auto& [word, argument] : config.test_inject) {
      const OptionWord* known = find_word(option, word);
      const bool takes = known != nullptr && !known->argument.empty();
      items.push_back(takes ? word + ":" + show_number(argument) : word);
    }
  }
  return fmt::format("{}", fmt::join(items, ","));
}

struct ShowField {
  const Config& config;
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(Mode Config::*field) const { return to_string(config.*field); }
  std::string operator()(Seconds Config::*field) const { return std::to_string(config.*field); }
  std::string operator()(int Config::*field) const { return std::to_string(config.*field); }
  std::string operator()(double Config::*field) const { return show_number(config.*field); }
  std::string operator()(std::string Config::*field) const { return config.*field; }
};

}  // namespace

Result<double> option_number(const Option& option, const std::string& value) {
  const bool time =
      option.type == OptionType::kDuration || option.type == OptionType::kFineDuration;
  const bool memory = option.type == OptionType::kMemory;
  auto number = time ? parse_duration(value) : memory ? parse_memory(value) : parse_number(value);
  if (!number) {
    // A sign is a number to people, and the range answers it.
    if (value.size() > 1 && value[0] == '-' && parse_number(value.substr(1))) {
      return out_of_range(option, value);
    }
    return fail(fmt::format("{}; choose {}", number.error().text, describe_values(option)));
  }
  const bool whole = option.type == OptionType::kDuration || option.type == OptionType::kInteger;
  if (whole && *number != std::floor(*number)) {
    return fail(
        fmt::format("{} is not whole; choose {}", in_quotes(value), describe_values(option)));
  }
  if (*number < option.min || *number > option.max) {
    return out_of_range(option, value);
  }
  return number;
}

Result<void> set_option(const Option& option, const std::string& value, Config& config) {
  switch (option.type) {
    case OptionType::kChoice:
      return set_choice(option, value, config);
    case OptionType::kPartitions:
      return set_partitions(value, config);
    case OptionType::kDuration:
    case OptionType::kFineDuration:
    case OptionType::kInteger:
    case OptionType::kReal:
    case OptionType::kMemory:
      return set_number(option, value, config);
    case OptionType::kBand:
      return set_band(option, value, config);
    case OptionType::kPath:
      return set_path(option, value, config);
    case OptionType::kWords:
      return set_words(option, value, config);
    case OptionType::kName:
    case OptionType::kYesNo:
    case OptionType::kHint:
      break;
  }
  return fail(fmt::format("{} stands on a line of its own", option.name));
}

std::string show_option(const Option& option, const Config& config) {
  if (option.type == OptionType::kPartitions) {
    return config.manage_all ? "all" : fmt::format("{}", fmt::join(config.managed_partitions, ","));
  }
  if (option.type == OptionType::kWords) return show_words(option, config);
  if (option.type == OptionType::kBand) {
    const double band = config.*std::get<double Config::*>(option.field);
    if (band < 0) return "auto";
    if (std::isinf(band)) return "inf";
  }
  return std::visit(ShowField{config}, option.field);
}

std::string describe_values(const Option& option) {
  const auto range = [&](const std::string& what) {
    const std::string unit = option.unit.empty() ? "" : " " + option.unit;
    return fmt::format("{} from {} to {}{}", what, show_number(option.min), show_number(option.max),
                       unit);
  };
  switch (option.type) {
    case OptionType::kChoice:
    case OptionType::kWords:
      return fmt::format("one of {}", fmt::join(word_names(option), ", "));
    case OptionType::kPartitions:
      return "partition names with commas between, or all";
    case OptionType::kDuration:
    case OptionType::kFineDuration:
      return range("a time");
    case OptionType::kInteger:
      return range("a whole number");
    case OptionType::kReal:
      return range("a number");
    case OptionType::kMemory:
      return range("memory") + ", or with G behind the number";
    case OptionType::kBand:
      return range("a number") + ", inf or auto";
    case OptionType::kPath:
      return "an absolute path";
    case OptionType::kName:
      return "a name";
    case OptionType::kYesNo:
      return "yes or no";
    case OptionType::kHint:
      return describe_values(*find_hint(option.hint));
  }
  return "";
}

}  // namespace rubato
