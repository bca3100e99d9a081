// SPDX-License-Identifier: GPL-2.0-or-later
// Prints a Config as rubato.conf and as JSON.
#include "lib/config/config.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/json_reader.h"
#include "lib/config/options.h"
#include "lib/config/records.h"
#include "lib/config/test_options.h"
#include "lib/config/values.h"

namespace rubato {
namespace {

using Json = JsonValue;

/// A value as rubato.conf accepts it: quoted if it contains a blank; `#` would start a comment and
/// a backslash an escape.
std::string as_written(const std::string& value) {
  std::string out;
  bool blank = false;
  for (const char c : value) {
    if (c == '#' || c == '\\') out.push_back('\\');
    blank = blank || c == ' ';
    out.push_back(c);
  }
  return blank ? "\"" + out + "\"" : out;
}

Json list_json(const std::set<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) list.push_back(name);
  return list;
}

Json json_of(const Option& option, const Config& config) {
  const std::string value = show_option(option, config);
  if (value.empty()) return nullptr;
  switch (option.type) {
    case OptionType::kDuration:
    case OptionType::kInteger:
    case OptionType::kMemory:
      return std::stoll(value);
    case OptionType::kFineDuration:
    case OptionType::kReal:
      return parse_number(value).value_or(0);
    case OptionType::kBand: {
      const auto number = parse_number(value);
      return number ? Json(*number) : Json(value);
    }
    case OptionType::kNames:
      return list_json(config.*std::get<std::set<std::string> Config::*>(option.field));
    case OptionType::kPartitions:
      return config.manage_all ? Json("all") : list_json(config.managed_partitions);
    case OptionType::kCounts:
    case OptionType::kChoice:
    case OptionType::kPath:
    case OptionType::kName:
    case OptionType::kYesNo:
    case OptionType::kHint:
      break;
  }
  return value;
}

}  // namespace

const char* to_string(Mode mode) {
  if (mode == Mode::kElastic) return "elastic";
  return mode == Mode::kPlace ? "place" : "observe";
}

bool Config::manages(const std::string& partition) const {
  return manage_all || managed_partitions.contains(partition);
}

bool Config::manages_group(const std::string& account, const std::string& qos) const {
  const auto among = [](const std::set<std::string>& names, const std::string& name) {
    return names.empty() || names.contains(name);
  };
  return among(managed_accounts, account) && among(managed_qos, qos);
}

std::map<std::string, double> Config::speeds() const {
  std::map<std::string, double> speeds;
  for (const GpuTypeConfig& type : gpu_types) speeds[type.name] = type.speed;
  return speeds;
}

std::map<std::string, std::int64_t> Config::gpu_memory() const {
  std::map<std::string, std::int64_t> memory;
  for (const GpuTypeConfig& type : gpu_types)
    if (type.memory > 0) memory[type.name] = type.memory;
  return memory;
}

std::map<std::string, double> Config::gpu_links() const {
  std::map<std::string, double> links;
  for (const GpuTypeConfig& type : gpu_types)
    if (type.nvlink > 0) links[type.name] = type.nvlink;
  return links;
}

const JobTypeConfig* Config::job_type(const std::string& name) const {
  const auto found = std::lower_bound(
      job_types.begin(), job_types.end(), name,
      [](const JobTypeConfig& type, const std::string& n) { return type.name < n; });
  return found != job_types.end() && found->name == name ? &*found : nullptr;
}

std::optional<double> Config::injected(Fault fault) const {
  const auto found = test_inject.find(fault);
  if (found == test_inject.end()) return std::nullopt;
  return found->second;
}

std::string dump_config(const Config& config) {
  std::string out;
  for (const Option& option : options()) {
    if (!option.record.empty()) continue;
    if (option.type == OptionType::kName) {
      for (const RecordPairs& record : show_records(option, config)) {
        for (const auto& [key, value] : record) {
          out += fmt::format("{}{}={}", key == option.name ? "" : " ", key, as_written(value));
        }
        out += '\n';
      }
      continue;
    }
    const std::string value = show_option(option, config);
    if (!value.empty()) {
      out += fmt::format("{}={}\n", option.name, as_written(value));
    } else {
      out += fmt::format("# {} is not set\n", option.name);
    }
  }
  for (const TestOption& option : test_options()) {
    const std::string value = show_test_option(option, config);
    if (!value.empty()) out += fmt::format("{}={}\n", option.name, value);
  }
  return out;
}

std::string config_json(const Config& config) {
  Json out;
  out["schema"] = kConfigSchema;
  for (const Option& option : options()) {
    if (!option.record.empty()) continue;
    if (option.type != OptionType::kName) {
      out[option.name] = json_of(option, config);
      continue;
    }
    Json& records = out[option.name] = Json::array();
    for (const RecordPairs& pairs : show_records(option, config)) {
      Json record;
      for (const auto& [key, value] : pairs) {
        const Option* member = find_option(key, option.name);
        const OptionType type = member != nullptr ? member->type : OptionType::kName;
        if (type == OptionType::kReal)
          record[key] = parse_number(value).value_or(0);
        else if (type == OptionType::kMemory)
          record[key] = static_cast<std::int64_t>(parse_memory(value).value_or(0));
        else
          record[key] = value;
      }
      records.push_back(std::move(record));
    }
  }
  for (const TestOption& option : test_options()) {
    const std::string value = show_test_option(option, config);
    if (!value.empty()) out[option.name] = *split_list(value);
  }
  // Names are bytes to Slurm; JSON wants UTF-8.
  return json_text(out);
}

}  // namespace rubato
