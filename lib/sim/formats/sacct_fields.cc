// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/formats/sacct_fields.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <utility>

#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/workload.h"

namespace rubato::sim {
namespace {

constexpr std::int64_t kMaxTime = 7'258'118'400;  // 2200-01-01
constexpr int kMaxGpus = 1'000'000;
constexpr double kMaxMemory = 1e12;  // MiB

std::optional<std::int64_t> digits(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// Days from 1970 to a Gregorian date (Hinnant, chrono-compatible algorithms).
std::int64_t days_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = year / 400;
  const std::int64_t of_era = year - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/// "64G", "62.50G", "4000M" in MiB; a number without a unit is in bytes.
std::optional<double> memory_of(std::string_view text) {
  constexpr std::string_view kUnits = "KMGTP";
  double unit = 1.0 / (1 << 20);
  if (const auto at = text.empty() ? std::string_view::npos : kUnits.find(text.back());
      at != std::string_view::npos) {
    unit = std::pow(1024.0, static_cast<double>(at) - 1);
    text.remove_suffix(1);
  }
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || !(value >= 0)) {
    return std::nullopt;
  }
  return std::min(value * unit, kMaxMemory);
}

/// Numbers of GPUs in a list, with and without types.
struct GpuCounts {
  int plain = 0;
  int typed = 0;
  int types = 0;
};

/// One entry of the list, such as "gres/gpu:a100=4"; false: malformed.
bool read_tres(std::string_view entry, SacctTres& tres, GpuCounts& counts) {
  constexpr std::string_view kGpu = "gres/gpu";
  const std::size_t equals = entry.find('=');
  if (equals == std::string_view::npos) return false;
  std::string_view key = entry.substr(0, equals);
  const std::string_view value = entry.substr(equals + 1);
  if (key == "mem") {
    const auto memory = memory_of(value);
    tres.memory = memory.value_or(0);
    return memory.has_value();
  }
  const bool gpus = key.starts_with(kGpu) && (key.size() == kGpu.size() || key[kGpu.size()] == ':');
  if (!gpus && key != "cpu" && key != "node") return true;
  const auto count = digits(value);
  if (!count || *count > kMaxGpus) return false;
  const int number = static_cast<int>(*count);
  if (key == "node") {
    tres.nodes = number;
  } else if (!gpus) {
    tres.cpus = number;
  } else if (key.size() == kGpu.size()) {
    counts.plain = number;
  } else {
    tres.type = std::string(key.substr(kGpu.size() + 1));
    counts.typed = std::min(counts.typed + number, kMaxGpus);
    ++counts.types;
  }
  return true;
}

}  // namespace

std::optional<double> sacct_time(std::string_view text) {
  if (const auto seconds = digits(text)) {
    return *seconds <= kMaxTime ? std::optional<double>(static_cast<double>(*seconds))
                                : std::nullopt;
  }
  if (text.size() != 19 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
      text[16] != ':') {
    return std::nullopt;
  }
  std::array<std::int64_t, 6> part{};
  constexpr std::array<std::pair<std::size_t, std::size_t>, 6> kAt{
      {{0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}, {17, 2}}};
  for (std::size_t i = 0; i < kAt.size(); ++i) {
    const auto value = digits(text.substr(kAt[i].first, kAt[i].second));
    if (!value) return std::nullopt;
    part[i] = *value;
  }
  if (part[1] < 1 || part[1] > 12 || part[3] > 23 || part[4] > 59 || part[5] > 60) {
    return std::nullopt;
  }
  const std::int64_t next_month =
      part[1] == 12 ? days_of(part[0] + 1, 1, 1) : days_of(part[0], part[1] + 1, 1);
  const bool in_month = part[2] <= next_month - days_of(part[0], part[1], 1);
  if (part[0] < 1970 || part[0] >= 2200 || part[2] < 1 || !in_month) return std::nullopt;
  return static_cast<double>(days_of(part[0], part[1], part[2]) * 86400 + part[3] * 3600 +
                             part[4] * 60 + part[5]);
}

std::string sacct_time_text(double time) {
  const auto seconds = static_cast<std::int64_t>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::optional<double> sacct_limit(std::string_view text) {
  if (text.empty() || text == "UNLIMITED" || text == "Partition_Limit") return kNever;
  std::int64_t days = 0;
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    const auto value = digits(text.substr(0, dash));
    if (!value || *value > kMaxTime) return std::nullopt;
    days = *value;
    text.remove_prefix(dash + 1);
  }
  std::int64_t seconds = 0;
  int parts = 0;
  for (std::size_t from = 0; from <= text.size(); ++parts) {
    const std::size_t to = std::min(text.find(':', from), text.size());
    const auto value = digits(text.substr(from, to - from));
    if (!value || *value > kMaxTime || parts > 2) return std::nullopt;
    seconds = seconds * 60 + *value;
    from = to + 1;
  }
  if (parts < 2 || parts > 3) return std::nullopt;
  const auto limit = static_cast<double>(days * 86400 + seconds);
  return limit <= kMaxSeconds ? std::optional<double>(limit) : std::nullopt;
}

std::optional<SacctTres> sacct_tres(std::string_view text) {
  SacctTres tres;
  GpuCounts counts;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    if (!read_tres(text.substr(from, to - from), tres, counts)) return std::nullopt;
    from = to + 1;
  }
  tres.gpus = std::max(counts.plain, counts.typed);
  if (counts.types != 1) tres.type.clear();
  return tres;
}

}  // namespace rubato::sim
