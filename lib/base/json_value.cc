// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/json_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace rubato {
namespace {

using Library = nlohmann::ordered_json;

std::string dumped(const Library& leaf, bool ascii) {
  return leaf.dump(-1, ' ', ascii, Library::error_handler_t::replace);
}

// A list or object of nlohmann/json allocates memory in its destructor, and ends the process if
// that fails. So only texts and numbers become its values; lists and objects are written here.
std::string leaf_text(const JsonValue& value, bool ascii) {
  if (value.is_string()) return dumped(Library(value.text()), ascii);
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_unsigned()) return std::to_string(value.get<std::uint64_t>());
  if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
  if (value.is_number()) return dumped(Library(value.get<double>()), ascii);
  return "null";
}

class TextWriter {
 public:
  TextWriter(int indent, bool ascii) : indent_(indent), ascii_(ascii) {}

  void write(const JsonValue& value) {
    if (value.is_object()) {
      list('{', '}', value.items(), [this](const JsonValue::Member& member) {
        out_ += dumped(Library(member.name), ascii_);
        out_ += indent_ >= 0 ? ": " : ":";
        write(member.value);
      });
    } else if (value.is_array()) {
      list('[', ']', value, [this](const JsonValue& item) { write(item); });
    } else {
      out_ += leaf_text(value, ascii_);
    }
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  template <typename Items, typename WriteItem>
  void list(char begin, char end, const Items& items, WriteItem write_item) {
    out_ += begin;
    ++depth_;
    bool first = true;
    for (const auto& item : items) {
      if (!std::exchange(first, false)) out_ += ',';
      new_line();
      write_item(item);
    }
    --depth_;
    if (!first) new_line();
    out_ += end;
  }
  void new_line() {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent_) * depth_, ' ');
  }

  const int indent_;
  const bool ascii_;
  std::size_t depth_ = 0;
  std::string out_;
};

std::string written(const JsonValue& value, int indent, bool ascii) {
  TextWriter writer(indent, ascii);
  writer.write(value);
  return writer.take();
}

/// Builds a value while nlohmann/json reads the text.
class Builder {
 public:
  explicit Builder(JsonValue& document) : document_(document) {}

  bool null() { return add(nullptr); }
  bool boolean(bool yes) { return add(yes); }
  bool number_integer(std::int64_t number) { return add(number); }
  bool number_unsigned(std::uint64_t number) { return add(number); }
  bool number_float(double number, const std::string& /*text*/) { return add(number); }
  bool string(std::string& text) { return add(std::move(text)); }
  bool binary(std::vector<std::uint8_t>& /*bytes*/) { return false; }
  bool start_object(std::size_t /*size*/) { return open(JsonValue::object()); }
  bool start_array(std::size_t /*size*/) { return open(JsonValue::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    name_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const Library::exception& error) {
    wrong = error.what();
    return false;
  }

  std::string wrong;

 private:
  JsonValue& place() {
    if (open_.empty()) return document_;
    JsonValue& parent = *open_.back();
    if (parent.is_object()) return parent[name_];
    parent.push_back(nullptr);
    return parent[parent.size() - 1];
  }
  bool add(JsonValue value) {
    place() = std::move(value);
    return true;
  }
  bool open(JsonValue value) {
    if (open_.size() == JsonValue::kMaxDepth) {
      wrong = fmt::format("more than {} lists and objects inside each other", JsonValue::kMaxDepth);
      return false;
    }
    JsonValue& at = place();
    at = std::move(value);
    open_.push_back(&at);  // its parent does not grow before it is closed
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  JsonValue& document_;
  std::vector<JsonValue*> open_;
  std::string name_;
};

template <typename T, typename Data>
T number_of(const Data& data) {
  if (const auto* number = std::get_if<std::int64_t>(&data)) return static_cast<T>(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&data)) return static_cast<T>(*number);
  if (const auto* number = std::get_if<double>(&data)) return static_cast<T>(*number);
  return T{};
}

}  // namespace

JsonValue::JsonValue() : data_(nullptr) {}
JsonValue::~JsonValue() = default;
// The copy constructor of libstdc++'s variant (GCC 12) destroys a member that does not exist if its
// copy fails; the assignment makes the copy first.
JsonValue::JsonValue(const JsonValue& other) : data_(nullptr) { data_ = other.data_; }
JsonValue::JsonValue(JsonValue&& other) noexcept = default;
JsonValue& JsonValue::operator=(const JsonValue& other) = default;
JsonValue& JsonValue::operator=(JsonValue&& other) noexcept = default;
JsonValue::JsonValue(std::string text) : data_(std::move(text)) {}
JsonValue::JsonValue(std::string_view text) : data_(std::string(text)) {}
JsonValue::JsonValue(const char* text) : data_(std::string(text)) {}

JsonValue::JsonValue(std::initializer_list<JsonValue> items) : JsonValue(array()) {
  const bool members = std::all_of(items.begin(), items.end(), [](const JsonValue& item) {
    return item.is_array() && item.size() == 2 && item[0].is_string();
  });
  if (members) data_ = Object();
  for (const JsonValue& item : items) {
    if (members) {
      (*this)[item[0].text()] = item[1];
    } else {
      push_back(item);
    }
  }
}

JsonValue JsonValue::array() {
  JsonValue value;
  value.data_ = Array();
  return value;
}

JsonValue JsonValue::object() {
  JsonValue value;
  value.data_ = Object();
  return value;
}

Result<JsonValue> JsonValue::parse(std::string_view text) {
  JsonValue document;
  Builder builder(document);
  if (!Library::sax_parse(text.begin(), text.end(), &builder)) return fail(builder.wrong);
  return document;
}

bool JsonValue::is_null() const { return std::holds_alternative<std::nullptr_t>(data_); }
bool JsonValue::is_boolean() const { return std::holds_alternative<bool>(data_); }
bool JsonValue::is_number() const { return is_number_integer() || is_number_float(); }
bool JsonValue::is_number_integer() const {
  return std::holds_alternative<std::int64_t>(data_) || is_number_unsigned();
}
bool JsonValue::is_number_unsigned() const { return std::holds_alternative<std::uint64_t>(data_); }
bool JsonValue::is_number_float() const { return std::holds_alternative<double>(data_); }
bool JsonValue::is_string() const { return std::holds_alternative<std::string>(data_); }
bool JsonValue::is_array() const { return std::holds_alternative<Array>(data_); }
bool JsonValue::is_object() const { return std::holds_alternative<Object>(data_); }

bool JsonValue::boolean() const {
  const bool* yes = std::get_if<bool>(&data_);
  return yes != nullptr && *yes;
}
double JsonValue::real() const { return number_of<double>(data_); }
std::int64_t JsonValue::integer() const { return number_of<std::int64_t>(data_); }
std::uint64_t JsonValue::whole() const { return number_of<std::uint64_t>(data_); }

const std::string& JsonValue::text() const {
  static const std::string none;
  const std::string* text = std::get_if<std::string>(&data_);
  return text != nullptr ? *text : none;
}

std::size_t JsonValue::size() const {
  if (const auto* items = std::get_if<Array>(&data_)) return items->size();
  if (const auto* members = std::get_if<Object>(&data_)) return members->size();
  return is_null() ? 0 : 1;
}

JsonValue::Array::const_iterator JsonValue::begin() const {
  static const Array none;
  const Array* items = std::get_if<Array>(&data_);
  return (items != nullptr ? *items : none).begin();
}

JsonValue::Array::const_iterator JsonValue::end() const {
  return begin() + static_cast<std::ptrdiff_t>(is_array() ? size() : 0);
}

void JsonValue::set(bool yes) { data_ = yes; }

void JsonValue::set(double number) { data_ = number; }

void JsonValue::set(std::int64_t number) { data_ = number; }

void JsonValue::set(std::uint64_t number) { data_ = number; }

const JsonValue& JsonValue::item(std::size_t index) const { return std::get<Array>(data_)[index]; }

void JsonValue::push_back(JsonValue value) {
  if (!is_array()) data_ = Array();
  std::get<Array>(data_).push_back(std::move(value));
}

const JsonValue::Object& JsonValue::items() const {
  static const Object none;
  const Object* members = std::get_if<Object>(&data_);
  return members != nullptr ? *members : none;
}

const JsonValue* JsonValue::find(std::string_view name) const {
  for (const Member& member : items()) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

JsonValue& JsonValue::operator[](std::string_view name) {
  if (!is_object()) data_ = Object();
  Object& members = std::get<Object>(data_);
  for (Member& member : members) {
    if (member.name == name) return member.value;
  }
  return members.emplace_back(Member{std::string(name), {}}).value;
}

const JsonValue& JsonValue::at(std::string_view name) const {
  static const JsonValue none;
  const JsonValue* member = find(name);
  return member != nullptr ? *member : none;
}

std::string JsonValue::value(std::string_view name, const std::string& fallback) const {
  const JsonValue& member = at(name);
  return member.is_string() ? member.text() : fallback;
}

double JsonValue::value(std::string_view name, double fallback) const {
  const JsonValue& member = at(name);
  return member.is_number() ? member.real() : fallback;
}

JsonValue JsonValue::value(std::string_view name, const JsonValue& fallback) const {
  const JsonValue& member = at(name);
  return member.data_.index() == fallback.data_.index() ? member : fallback;
}

bool JsonValue::erase(std::string_view name) {
  Object* members = std::get_if<Object>(&data_);
  return members != nullptr &&
         std::erase_if(*members, [&](const Member& member) { return member.name == name; }) > 0;
}

void JsonValue::update(const JsonValue& other) {
  for (const auto& [name, value] : other.items()) (*this)[name] = value;
}

bool JsonValue::equals(const JsonValue& other) const {
  if (is_number() && other.is_number()) {
    if (is_number_float() || other.is_number_float()) return real() == other.real();
    const bool negative = !is_number_unsigned() && integer() < 0;
    const bool other_negative = !other.is_number_unsigned() && other.integer() < 0;
    return negative == other_negative && integer() == other.integer();
  }
  if (data_.index() != other.data_.index()) return false;
  if (is_array()) return std::get<Array>(data_) == std::get<Array>(other.data_);
  if (is_object()) {
    return size() == other.size() &&
           std::all_of(items().begin(), items().end(), [&](const Member& member) {
             const JsonValue* same = other.find(member.name);
             return same != nullptr && *same == member.value;
           });
  }
  return is_string() ? text() == other.text() : boolean() == other.boolean();
}

std::string json_text(const JsonValue& value, int indent) { return written(value, indent, false); }

std::string json_ascii(const JsonValue& value) { return written(value, -1, true); }

}  // namespace rubato
