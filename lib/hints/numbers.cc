// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/hints/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "lib/base/lex.h"

namespace rubato {
namespace {

constexpr std::size_t kMaxChars = 40;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Removes the leading digits of `text` and returns them.
std::string_view take_digits(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  const std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  return digits;
}

/// Parts of DIGITS[.DIGITS][e[+-]DIGITS].
struct Decimal {
  std::string digits;  ///< before and after the point
  int exponent = 0;    ///< of ten, for `digits` as an integer
};

std::optional<Decimal> decimal_of(std::string_view text) {
  if (text.size() > kMaxChars) return std::nullopt;
  Decimal out;
  out.digits = take_digits(text);
  if (out.digits.empty()) return std::nullopt;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::string_view fraction = take_digits(text);
    if (fraction.empty()) return std::nullopt;
    out.digits += fraction;
    out.exponent = -static_cast<int>(fraction.size());
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    const std::string_view digits = take_digits(text);
    if (digits.empty() || digits.size() > 4) return std::nullopt;
    int exponent = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    out.exponent += negative ? -exponent : exponent;
  }
  return text.empty() ? std::optional(out) : std::nullopt;
}

enum class Whole { kYes, kFraction, kTooLarge };

/// The value of `in`, if it is an integer of at most 10^18.
Whole whole_of(Decimal in, std::int64_t& value) {
  while (in.exponent < 0 && in.digits.size() > 1 && in.digits.back() == '0') {
    in.digits.pop_back();
    ++in.exponent;
  }
  const bool zero =
      std::all_of(in.digits.begin(), in.digits.end(), [](char c) { return c == '0'; });
  value = 0;
  if (zero) return Whole::kYes;
  if (in.exponent < 0) return Whole::kFraction;
  constexpr std::int64_t kMax = 1'000'000'000'000'000'000;
  const auto push = [&value](int digit) {
    if (value > (kMax - digit) / 10) return false;
    value = value * 10 + digit;
    return true;
  };
  for (const char c : in.digits) {
    if (!push(c - '0')) return Whole::kTooLarge;
  }
  for (int i = 0; i < in.exponent; ++i) {
    if (!push(0)) return Whole::kTooLarge;
  }
  return Whole::kYes;
}

/// "; write 7e9" for 7B and the like.
std::string suffix_hint(std::string_view text) {
  if (text.size() < 2) return "";
  int exponent = 0;
  switch (text.back()) {
    case 'k':
    case 'K':
      exponent = 3;
      break;
    case 'm':
    case 'M':
      exponent = 6;
      break;
    case 'b':
    case 'B':
    case 'g':
    case 'G':
      exponent = 9;
      break;
    case 't':
    case 'T':
      exponent = 12;
      break;
    default:
      return "";
  }
  const std::string_view number = text.substr(0, text.size() - 1);
  const bool plain = number.find_first_of("eE") == std::string_view::npos;
  if (!plain || !decimal_of(number)) return "";
  return fmt::format("; write {}e{}", number, exponent);
}

/// "; write 1.28e6" for 1,280,000, 1_280_000 and 1'280'000. "256,512" may be a list.
std::string group_hint(std::string_view text) {
  const std::size_t mark = text.find_first_of(",_'");
  if (mark == std::string_view::npos || mark == 0 || mark > 3) return "";
  if (text[mark] == ',' && text.find(',', mark + 1) == std::string_view::npos) return "";
  std::string digits(text.substr(0, mark));
  for (std::string_view rest = text.substr(mark); !rest.empty();) {
    if (rest.front() != text[mark]) return "";
    rest.remove_prefix(1);
    std::string_view group = rest.substr(0, 3);
    if (group.size() != 3 || take_digits(group).empty() || !group.empty()) return "";
    digits += rest.substr(0, 3);
    rest.remove_prefix(3);
  }
  const auto decimal = decimal_of(digits);
  std::int64_t value = 0;
  if (!decimal || whole_of(*decimal, value) != Whole::kYes) return "";
  return fmt::format("; write {}", show_count(value));
}

}  // namespace

Result<std::int64_t> parse_count(std::string_view text, std::int64_t min, std::int64_t max) {
  const std::string choose =
      fmt::format("; choose a whole number from {} to {}", show_count(min), show_count(max));
  const bool negative = text.starts_with('-') && decimal_of(text.substr(1));
  const auto decimal = decimal_of(text);
  if (!decimal && !negative) {
    const std::string suffix = suffix_hint(text) + group_hint(text);
    return fail(fmt::format("{} is not a whole number{}", in_quotes(text),
                            suffix.empty() ? choose : suffix));
  }
  std::int64_t value = -1;
  const Whole whole = negative ? Whole::kYes : whole_of(*decimal, value);
  if (whole == Whole::kFraction)
    return fail(fmt::format("{} is not a whole number{}", in_quotes(text), choose));
  if (whole == Whole::kTooLarge || value < min || value > max) {
    return fail(fmt::format("{} is out of range{}", in_quotes(text), choose));
  }
  return value;
}

Result<double> parse_real(std::string_view text) {
  const bool sign = text.starts_with('-') || text.starts_with('+');
  const std::string_view number = sign ? text.substr(1) : text;
  if (!decimal_of(number)) return fail(fmt::format("{} is not a number", in_quotes(text)));
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  // Underflow and overflow give the same error; neither is a measurement.
  if (error != std::errc{}) return fail(fmt::format("{} is out of range", in_quotes(text)));
  return text.starts_with('-') ? -value : value;
}

std::string show_count(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t last = digits.find_last_not_of('0');
  // Uses an exponent only where it is easier to read: 7e9 and 1.28e8, but 90000 and 1234567.
  if (value < 1'000'000 || last > 3) return digits;
  const std::string exponent = std::to_string(digits.size() - 1);
  digits.resize(last + 1);
  if (digits.size() > 1) digits.insert(1, ".");
  return digits + "e" + exponent;
}

std::string show_real(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end.ptr};
}

}  // namespace rubato
