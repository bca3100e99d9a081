// SPDX-License-Identifier: GPL-2.0-or-later
// Converts option values from text into a Config, and back.
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

// Words may have any case, as choices may.
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
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) {
    return fail(fmt::format("{} is not {}{}", in_quotes(value), describe_values(option),
                            did_you_mean(value, names)));
  }
  if (const auto* mode = std::get_if<Mode Config::*>(&option.field)) {
    for (const Mode one : {Mode::kObserve, Mode::kPlace, Mode::kElastic})
      if (word == to_string(one)) config.*(*mode) = one;
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
    if (names->size() > 1) return fail("all cannot be combined with partition names");
    config.manage_all = true;
    return {};
  }
  for (const std::string& name : *names) {
    if (auto good = check_name(name); !good) return good;
    if (!config.managed_partitions.insert(name).second) {
      return fail(fmt::format("{} is listed twice", in_quotes(name)));
    }
  }
  return {};
}

Result<void> set_names(const Option& option, const std::string& value, Config& config) {
  const auto* field = std::get_if<std::set<std::string> Config::*>(&option.field);
  const auto names = split_list(value);
  if (!names) return tl::unexpected(names.error());
  for (const std::string& name : *names) {
    if (auto good = check_name(name); !good) return good;
    // slurmdbd keeps the names of accounts and QOS in lower case.
    if (field != nullptr && !(config.**field).insert(lower(name)).second) {
      return fail(fmt::format("{} is listed twice", in_quotes(name)));
    }
  }
  return {};
}

Result<int> count_of(const Option& option, const std::string& text) {
  const auto number = option_number(option, text);
  if (!number) return tl::unexpected(number.error());
  return static_cast<int>(*number);
}

Result<void> set_counts(const Option& option, const std::string& value, Config& config) {
  const auto* field = std::get_if<std::map<std::string, int> Config::*>(&option.field);
  const auto items = split_list(value);
  if (!items) return tl::unexpected(items.error());
  for (const std::string& item : *items) {
    const std::size_t colon = item.rfind(':');
    const bool named = colon != std::string::npos;
    if (!named && items->size() > 1)
      return fail(
          fmt::format("{} names no QOS; choose {}", in_quotes(item), describe_values(option)));
    // slurmdbd keeps the names of QOS in lower case.
    const std::string name = named ? lower(item.substr(0, colon)) : "";
    if (named) {
      if (auto good = check_name(name); !good) return good;
    }
    const auto count = count_of(option, named ? item.substr(colon + 1) : item);
    if (!count) return tl::unexpected(count.error());
    if (field != nullptr && !(config.**field).emplace(name, *count).second)
      return fail(fmt::format("{} is listed twice", in_quotes(name)));
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
    return fail(fmt::format("{} contains a quote or a control character", in_quotes(value)));
  }
  if (const auto* text = std::get_if<std::string Config::*>(&option.field)) {
    config.*(*text) = value;
  }
  return {};
}

struct ShowField {
  const Config& config;
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(Mode Config::*field) const { return to_string(config.*field); }
  std::string operator()(Seconds Config::*field) const { return std::to_string(config.*field); }
  std::string operator()(int Config::*field) const { return std::to_string(config.*field); }
  std::string operator()(double Config::*field) const { return show_number(config.*field); }
  std::string operator()(std::string Config::*field) const { return config.*field; }
  std::string operator()(std::set<std::string> Config::*field) const {
    return fmt::format("{}", fmt::join(config.*field, ","));
  }
  std::string operator()(std::map<std::string, int> Config::*field) const {
    std::vector<std::string> items;
    for (const auto& [name, count] : config.*field)
      items.push_back(name.empty() ? std::to_string(count) : fmt::format("{}:{}", name, count));
    return fmt::format("{}", fmt::join(items, ","));
  }
};

}  // namespace

Result<double> option_number(const Option& option, const std::string& value) {
  const bool time =
      option.type == OptionType::kDuration || option.type == OptionType::kFineDuration;
  const bool memory = option.type == OptionType::kMemory;
  auto number = time ? parse_duration(value) : memory ? parse_memory(value) : parse_number(value);
  if (!number) {
    // A negative number is reported as out of range.
    if (value.size() > 1 && value[0] == '-' && parse_number(value.substr(1))) {
      return out_of_range(option, value);
    }
    return fail(fmt::format("{}; choose {}", number.error().text, describe_values(option)));
  }
  const bool whole = option.type == OptionType::kDuration || option.type == OptionType::kInteger ||
                     option.type == OptionType::kCounts;
  if (whole && *number != std::floor(*number)) {
    return fail(fmt::format("{} is not a whole number; choose {}", in_quotes(value),
                            describe_values(option)));
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
    case OptionType::kNames:
      return set_names(option, value, config);
    case OptionType::kCounts:
      return set_counts(option, value, config);
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
    case OptionType::kName:
    case OptionType::kYesNo:
    case OptionType::kHint:
      break;
  }
  return fail(fmt::format("{} must be on a line of its own", option.name));
}

std::string show_option(const Option& option, const Config& config) {
  if (option.type == OptionType::kPartitions) {
    return config.manage_all ? "all" : fmt::format("{}", fmt::join(config.managed_partitions, ","));
  }
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
      return fmt::format("one of {}", fmt::join(word_names(option), ", "));
    case OptionType::kPartitions:
      return "partition names separated by commas, or all";
    case OptionType::kNames:
      return "names separated by commas";
    case OptionType::kCounts:
      return range("a whole number") + ", or QOS:NUMBER separated by commas";
    case OptionType::kDuration:
    case OptionType::kFineDuration:
      return range("a time");
    case OptionType::kInteger:
      return range("a whole number");
    case OptionType::kReal:
      return range("a number");
    case OptionType::kMemory:
      return range("memory") + ", or a number with the suffix G";
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
