// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/config/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lib/base/lex.h"
#include "lib/base/nearest.h"  // lower
#include "lib/config/values.h"
#include "lib/hints/values.h"

namespace rubato {
namespace {

constexpr const char* kJobType = "JobType";

RecordPairs pairs_of(const GpuTypeConfig& type) {
  RecordPairs out{{"GpuType", type.name}, {"Speed", show_number(type.speed)}};
  if (type.memory > 0) out.emplace_back("Memory", show_memory(type.memory));
  if (type.nvlink > 0) out.emplace_back("NvLink", show_number(type.nvlink));
  return out;
}

RecordPairs pairs_of(const JobTypeConfig& type) {
  RecordPairs out{{kJobType, type.name}};
  if (type.shared) out.emplace_back("Shared", "yes");
  for (const Option& member : options()) {
    if (member.record != kJobType || member.type != OptionType::kHint) continue;
    const std::string value = show_hint(*find_hint(member.hint), type.hints);
    if (!value.empty()) out.emplace_back(member.name, value);
  }
  return out;
}

}  // namespace

Result<ConfigRecord> begin_record(const Option& option, const std::string& name) {
  ConfigRecord record{{.name = name}, {.name = name}};
  if (option.name == kJobType) {
    Hints hints;
    const auto good = set_hint(hint_of(HintField::kJobType), name, hints);
    if (!good) return tl::unexpected(good.error());
  } else if (const auto good = check_name(name); !good) {
    return tl::unexpected(good.error());
  }
  return record;
}

Result<void> set_member(const Option& member, const std::string& value, ConfigRecord& record) {
  if (member.type == OptionType::kHint) {
    return set_hint(*find_hint(member.hint), value, record.job_type.hints);
  }
  if (member.type == OptionType::kYesNo) {
    const std::string word = lower(value);
    if (word != "yes" && word != "no") {
      return fail(fmt::format("{} must be yes or no", in_quotes(value)));
    }
    record.job_type.shared = word == "yes";
    return {};
  }
  const auto number = option_number(member, value);
  if (!number) return tl::unexpected(number.error());
  if (member.type == OptionType::kMemory)
    record.gpu_type.memory = static_cast<std::int64_t>(*number);
  else if (member.name == std::string_view("NvLink"))
    record.gpu_type.nvlink = *number;
  else
    record.gpu_type.speed = *number;
  return {};
}

void add_record(const Option& option, ConfigRecord record, Config& config) {
  if (option.name == kJobType) {
    config.job_types.push_back(std::move(record.job_type));
  } else {
    config.gpu_types.push_back(std::move(record.gpu_type));
  }
}

void sort_records(Config& config) {
  const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
  std::sort(config.gpu_types.begin(), config.gpu_types.end(), by_name);
  std::sort(config.job_types.begin(), config.job_types.end(), by_name);
}

std::vector<RecordPairs> show_records(const Option& option, const Config& config) {
  std::vector<RecordPairs> out;
  if (option.name == kJobType) {
    for (const JobTypeConfig& type : config.job_types) out.push_back(pairs_of(type));
  } else {
    for (const GpuTypeConfig& type : config.gpu_types) out.push_back(pairs_of(type));
  }
  return out;
}

}  // namespace rubato
