// SPDX-License-Identifier: GPL-2.0-or-later
// Follows parse_format and parse_long_format of src/squeue/opts.c (Slurm 22.05).
#include "tools/shared/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "lib/base/nearest.h"
#include "tools/shared/squeue_fields.h"

namespace rubato::tools {
namespace {

constexpr int kDefaultLongWidth = 20;

std::vector<std::string> own_names(bool with_dl) {
  std::vector<std::string> names;
  for (const OwnField& field : own_fields()) names.emplace_back(field.name + (with_dl ? 0 : 2));
  return names;
}

std::vector<std::string> long_names() {
  std::vector<std::string> names = own_names(true);
  for (const SqueueField& field : squeue_fields()) {
    if (field.name != kShortOnly) names.emplace_back(field.name);
  }
  return names;
}

/// Parts between separators, empty ones left out, as strtok.
std::vector<std::string_view> pieces(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string all_letters() {
  std::string text;
  for (char c = 'a'; c <= 'z'; ++c) text += fmt::format("{}%{}", c == 'a' ? "" : "|", c);
  for (char c = 'A'; c <= 'Z'; ++c) text += fmt::format("|%{}", c);
  return text;
}

/// Takes the digits at the beginning of `text`.
Result<int> take_width(std::string_view& text) {
  int width = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    width = width * 10 + (text.front() - '0');
    if (width > kMaxWidth) {
      return fail(fmt::format("the maximum width is {}", kMaxWidth));
    }
    text.remove_prefix(1);
  }
  return width;
}

Result<void> take_braces(std::string_view token, std::string_view& rest, FormatField& field) {
  const std::size_t end = rest.find('}');
  if (end == std::string_view::npos) return fail(fmt::format("'%{}': missing '}}'", token));
  const std::string_view name = rest.substr(1, end - 1);
  field.own = own_field(name);
  if (field.own == nullptr) {
    const std::string plain = lower(name.starts_with("dl") ? name.substr(2) : name);
    const std::string mean = did_you_mean(plain, own_names(false));
    return fail(fmt::format("unknown field '%{{{}}}'{}", name,
                            mean.empty() ? "; see: rqueue --helpformat" : mean));
  }
  field.name = field.own->name;
  rest.remove_prefix(end + 1);
  return {};
}

/// What stands between two '%'.
Result<FormatField> short_field(std::string_view token) {
  FormatField field;
  std::string_view rest = token;
  if (rest.starts_with('.')) {
    field.right = true;
    rest.remove_prefix(1);
  }
  const auto width = take_width(rest);
  if (!width) return fail(fmt::format("'%{}': {}", token, width.error().text));
  field.width = *width;
  if (rest.empty()) return fail(fmt::format("'%{}': missing field name", token));
  if (rest.front() == '{') {
    if (auto done = take_braces(token, rest, field); !done) return tl::unexpected(done.error());
  } else {
    const SqueueField* known = field_of_letter(rest.front());
    if (known == nullptr) {
      return fail(fmt::format(
          "unknown field '%{}': use a letter of squeue(1) or one of Rubato's fields %{{{}}}",
          rest.front(), fmt::join(own_names(false), "} %{")));
    }
    field.name = known->name;
    rest.remove_prefix(1);
  }
  field.suffix = rest;
  return field;
}

/// Width and suffix behind the colon; strtol decides what is a width, as in squeue.
Result<void> take_long_width(std::string_view token, std::string text, FormatField& field) {
  if (text.starts_with('.')) {
    field.right = true;
    text.erase(0, 1);
  }
  char* end = nullptr;
  const long width = std::strtol(text.c_str(), &end, 10);
  if (width > kMaxWidth || width < -kMaxWidth) {
    return fail(fmt::format("'{}': the maximum width is {}", token, kMaxWidth));
  }
  field.width = static_cast<int>(width);
  field.suffix = end;
  return {};
}

Result<FormatField> long_field(std::string_view token) {
  FormatField field;
  const std::size_t colon = std::min(token.find(':'), token.size());
  std::string_view name = token.substr(0, colon);
  while (name.starts_with(' ')) name.remove_prefix(1);
  const std::string known = lower(name);
  if (known.starts_with("dl")) field.own = own_field(known);
  const SqueueField* squeue = field.own == nullptr ? field_of_name(known) : nullptr;
  if (field.own == nullptr && (squeue == nullptr || squeue->name == kShortOnly)) {
    const std::string mean = did_you_mean(known, long_names());
    return fail(fmt::format("unknown field '{}'{}", name,
                            mean.empty() ? "; see: rqueue --helpformat" : mean));
  }
  field.name = field.own != nullptr ? field.own->name : squeue->name;
  field.width = kDefaultLongWidth;
  if (colon < token.size()) {
    if (auto done = take_long_width(token, std::string(token.substr(colon + 1)), field); !done) {
      return tl::unexpected(done.error());
    }
  }
  return field;
}

}  // namespace

Result<Format> parse_short_format(std::string_view text) {
  const std::string all = lower(text) == "%all" ? all_letters() : "";
  if (!all.empty()) text = all;
  Format format;
  const std::size_t first = std::min(text.find('%'), text.size());
  format.prefix = text.substr(0, first);
  for (const std::string_view token : pieces(text.substr(first), '%')) {
    auto field = short_field(token);
    if (!field) return fail("-o: " + field.error().text);
    format.fields.push_back(std::move(*field));
  }
  return format;
}

Result<Format> parse_long_format(std::string_view text) {
  Format format;
  for (const std::string_view token : pieces(text, ',')) {
    auto field = long_field(token);
    if (!field) return fail("-O: " + field.error().text);
    format.fields.push_back(std::move(*field));
  }
  if (format.fields.empty()) return fail("-O: missing field name");
  return format;
}

std::string render_short_format(const Format& format) {
  std::string text = format.prefix;
  for (const FormatField& field : format.fields) {
    text += fmt::format("%{}", field.right ? "." : "");
    if (field.width > 0) text += fmt::format("{}", field.width);
    if (field.own != nullptr) {
      text += fmt::format("{{{}}}", field.own->name + 2);
    } else if (const SqueueField* known = field_of_name(field.name); known != nullptr) {
      text += known->letter;
    }
    text += field.suffix;
  }
  // %a with "ll" behind it would read as all letters.
  const bool all = format.fields.size() == 1 && lower(text) == "%all";
  return all ? "%0" + text.substr(1) : text;
}

std::string render_long_format(const Format& format) {
  std::string text;
  for (const FormatField& field : format.fields) {
    text += fmt::format("{}{}:{}{}{}", text.empty() ? "" : ",", field.name, field.right ? "." : "",
                        field.width, field.suffix);
  }
  return text;
}

std::string fit(std::string_view text, int width, bool right) {
  if (width == 0) return std::string(text);
  if (width < 0) return std::string(text) + " ";
  const auto room = static_cast<std::size_t>(width);
  const std::string_view shown = text.substr(0, room);
  const std::string pad(room - shown.size(), ' ');
  return right ? pad + std::string(shown) : std::string(shown) + pad;
}

}  // namespace rubato::tools
