// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/config/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "lib/base/lex.h"
#include "lib/base/text.h"

namespace rubato {
namespace {

// No range of the table needs more digits, and no double of the table prints more.
constexpr std::size_t kMaxDigits = 30;

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// A part of a time below `bound`; -1 if malformed.
double time_part(std::string_view text, double bound) {
  if (!all_digits(text) || text.size() > kMaxDigits) return -1;
  double value = 0;
  for (const char c : text) value = value * 10 + (c - '0');
  return value < bound ? value : -1;
}

tl::unexpected<Error> bad_time(std::string_view text) {
  return fail(fmt::format("{} is not a time; write seconds, MM:SS, HH:MM:SS or D-HH:MM:SS",
                          in_quotes(text)));
}

}  // namespace

Result<double> parse_number(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction = point == std::string_view::npos ? "0" : text.substr(point + 1);
  if (!all_digits(whole) || !all_digits(fraction)) {
    return fail(fmt::format("{} is not a number", in_quotes(text)));
  }
  if (text.size() > kMaxDigits) {
    return fail(fmt::format("{} has too many digits", in_quotes(text)));
  }
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  return value;
}

Result<double> parse_memory(std::string_view text) {
  double unit = 1;
  std::string_view digits = text;
  if (!text.empty() && !all_digits(text.substr(text.size() - 1))) {
    constexpr std::string_view kUnits = "KMGT";
    const char last = text.back();
    const char upper = last >= 'a' && last <= 'z' ? static_cast<char>(last - 'a' + 'A') : last;
    const std::size_t at = kUnits.find(upper);
    if (at == std::string_view::npos)
      return fail(fmt::format("{} is not a memory size", in_quotes(text)));
    unit = std::ldexp(1.0, 10 * (static_cast<int>(at) - 1));
    digits.remove_suffix(1);
  }
  const auto number = parse_number(digits);
  if (!number) return fail(fmt::format("{} is not a memory size", in_quotes(text)));
  return std::floor(*number * unit);
}

std::string show_memory(std::int64_t mebibytes) {
  constexpr std::int64_t kGiB = 1024;
  const bool whole = mebibytes % kGiB == 0;
  return fmt::format("{}{}", whole ? mebibytes / kGiB : mebibytes, whole ? "G" : "M");
}

Result<double> parse_duration(std::string_view text) {
  constexpr double kNoBound = 1e9;
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos && text.find(':') == std::string_view::npos) {
    auto number = parse_number(text);
    if (number || all_digits(text)) return number;
    return bad_time(text);
  }
  double days = 0;
  if (dash != std::string_view::npos) days = time_part(text.substr(0, dash), kNoBound);
  const bool has_days = dash != std::string_view::npos;
  const auto parts = split_at(has_days ? text.substr(dash + 1) : text, ':');
  if (days < 0 || parts.size() > 3) return bad_time(text);

  // After days, the first part is hours; without days, the last part is seconds.
  constexpr std::array<double, 3> kUnits{3600, 60, 1};
  const std::size_t first_unit = has_days ? 0 : 3 - parts.size();
  double total = days * 86400;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double bound = i > 0 ? 60 : has_days ? 24 : kNoBound;
    const double part = time_part(parts[i], bound);
    if (part < 0) return bad_time(text);
    total += part * kUnits[first_unit + i];
  }
  return total;
}

Result<std::vector<std::string>> split_list(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string_view part : split_at(text, ',')) {
    if (part.empty()) {
      return fail(fmt::format("{} has an empty list item", in_quotes(text)));
    }
    out.emplace_back(part);
  }
  return out;
}

Result<void> check_name(std::string_view name) {
  const bool good = !name.empty() && std::none_of(name.begin(), name.end(), [](unsigned char c) {
    return c <= 0x20 || c == 0x7F || c == ',' || c == '"' || c == '#' || c == '=' || c == '\\';
  });
  if (!good) return fail(fmt::format("{} is not a name", in_quotes(name)));
  return {};
}

std::string show_number(double value) {
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  return {buffer.data(), end.ptr};
}

}  // namespace rubato
