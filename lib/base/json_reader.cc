// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/base/nearest.h"

namespace rubato {
namespace {

constexpr std::size_t kMaxShownLength = 40;

std::string text_of(const JsonPath& path) {
  if (path.parent == nullptr) return "";
  std::string text = text_of(*path.parent);
  if (path.member.empty()) return text + fmt::format("[{}]", path.index);
  if (!text.empty()) text += '.';
  return text.append(path.member);
}

std::string shown(const JsonValue& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  std::string text = json_ascii(value);
  if (text.size() > kMaxShownLength) text = text.substr(0, kMaxShownLength) + "...";
  return text;
}

}  // namespace

void JsonErrors::add(const JsonPath& path, std::string_view text) {
  if (first) return;
  const std::string where = text_of(path);
  first = where.empty() ? std::string(text) : fmt::format("{}: {}", where, text);
}

void JsonItem::wrong(std::string_view expected) const {
  error(fmt::format("expected {}, found {}", expected, shown(value_)));
}

std::size_t JsonItem::array_size() const {
  if (value_.is_array()) return value_.size();
  wrong("a list");
  return 0;
}

const JsonValue& JsonItem::element(std::size_t index) const { return value_[index]; }

std::string JsonItem::text() const {
  if (value_.is_string()) return value_.get<std::string>();
  wrong("a text");
  return {};
}

bool JsonItem::yes() const {
  if (value_.is_boolean()) return value_.get<bool>();
  wrong("true or false");
  return false;
}

std::uint64_t JsonItem::number(std::uint64_t most) const {
  if (!value_.is_number_unsigned()) {
    wrong(value_.is_number_integer() ? "a number from 0 on" : "a whole number");
    return 0;
  }
  const auto number = value_.get<std::uint64_t>();
  if (number > most) wrong(fmt::format("a number up to {}", most));
  return number > most ? 0 : number;
}

double JsonItem::real() const {
  if (value_.is_number() && std::isfinite(value_.get<double>())) return value_.get<double>();
  wrong("a number");
  return 0;
}

Seconds JsonItem::time() const {
  if (value_.is_string()) {
    if (value_.text() == "forever") return kForever;
    wrong("a number of seconds or \"forever\"");
    return 0;
  }
  return static_cast<Seconds>(number(kJsonMaxTime));
}

JsonObject::JsonObject(const JsonItem& item) : path_(item.path()), errors_(item.errors()) {
  if (item.value().is_object()) {
    object_ = &item.value();
  } else {
    item.error(fmt::format("expected an object, found {}", shown(item.value())));
  }
}

const JsonValue* JsonObject::find(std::string_view name) const {
  if (object_ == nullptr || errors_.any()) return nullptr;
  return object_->find(name);
}

void JsonObject::missing(std::string_view name) {
  error(fmt::format("has no member \"{}\"", name));
}

std::vector<std::string> JsonObject::skip_unknown() {
  std::vector<std::string> texts;
  if (object_ == nullptr || errors_.any()) return texts;
  for (const auto& [name, value] : object_->items()) {
    if (std::find(asked_.begin(), asked_.end(), name) != asked_.end()) continue;
    JsonErrors unknown;
    unknown.add(JsonPath{&path_, name, 0}, "unknown member");
    texts.push_back(*unknown.first);
  }
  object_ = nullptr;
  return texts;
}

void JsonObject::finish() {
  if (object_ == nullptr || errors_.any()) return;
  for (const auto& [name, value] : object_->items()) {
    if (std::find(asked_.begin(), asked_.end(), name) != asked_.end()) continue;
    const std::vector<std::string> known(asked_.begin(), asked_.end());
    const std::string word = shown(JsonValue(name));
    error(fmt::format("unknown member {}{}", word, did_you_mean(name, known)));
    return;
  }
}

}  // namespace rubato
