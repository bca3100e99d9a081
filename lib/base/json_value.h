// SPDX-License-Identifier: GPL-2.0-or-later
// A JSON value. nlohmann/json reads and writes the text, in json_value.cc alone: its headers cost 2
// to 5 s in each source that uses them.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "lib/base/error.h"

namespace rubato {

/// null, a truth value, a number, a text, a list or an object. Members keep the order in which they
/// were added.
class JsonValue {
 public:
  struct Member;
  using Array = std::vector<JsonValue>;
  using Object = std::vector<Member>;
  /// Deeper lists and objects are not read.
  static constexpr std::size_t kMaxDepth = 256;

  JsonValue();
  ~JsonValue();
  JsonValue(const JsonValue& other);
  JsonValue(JsonValue&& other) noexcept;
  JsonValue& operator=(const JsonValue& other);
  JsonValue& operator=(JsonValue&& other) noexcept;

  // NOLINTBEGIN(google-explicit-constructor): a document is written as nested braces.
  JsonValue(std::nullptr_t) : JsonValue() {}
  JsonValue(std::string text);
  JsonValue(std::string_view text);
  JsonValue(const char* text);
  template <std::same_as<bool> Bool>
  JsonValue(Bool yes) : JsonValue() {
    set(yes);
  }
  template <typename Number>
  requires(std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>) JsonValue(Number number)
      : JsonValue() {
    if constexpr (std::is_floating_point_v<Number>) {
      set(static_cast<double>(number));
    } else if constexpr (std::is_signed_v<Number>) {
      set(static_cast<std::int64_t>(number));
    } else {
      set(static_cast<std::uint64_t>(number));
    }
  }
  template <typename T>
  JsonValue(const std::vector<T>& items) : JsonValue(array()) {
    for (const auto& item : items) push_back(item);
  }
  template <typename T>
  JsonValue(const std::map<std::string, T>& members) : JsonValue(object()) {
    for (const auto& [name, value] : members) (*this)[name] = value;
  }
  /// An object if each item is a list of a text and a value, else a list.
  JsonValue(std::initializer_list<JsonValue> items);
  // NOLINTEND(google-explicit-constructor)
  static JsonValue array();
  static JsonValue object();
  /// The value that `text` holds, or why it holds none.
  [[nodiscard]] static Result<JsonValue> parse(std::string_view text);

  [[nodiscard]] bool is_null() const;
  [[nodiscard]] bool is_boolean() const;
  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_number_integer() const;
  [[nodiscard]] bool is_number_unsigned() const;
  [[nodiscard]] bool is_number_float() const;
  [[nodiscard]] bool is_string() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_object() const;
  [[nodiscard]] bool is_primitive() const { return !is_array() && !is_object(); }

  /// The value as T: bool, std::string or a number. The caller has asked for its kind: another kind
  /// gives T{}.
  template <typename T>
  [[nodiscard]] T get() const {
    if constexpr (std::is_same_v<T, bool>) {
      return boolean();
    } else if constexpr (std::is_same_v<T, std::string>) {
      return text();
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(real());
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(integer());
    } else {
      return static_cast<T>(whole());
    }
  }
  /// The text, "" for another kind.
  [[nodiscard]] const std::string& text() const;

  /// The number of items or members; 0 for null, 1 for other kinds.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }

  /// Items of a list; none for other kinds.
  [[nodiscard]] Array::const_iterator begin() const;
  [[nodiscard]] Array::const_iterator end() const;
  /// Item `index` of a list that has it.
  template <std::integral Index>
  [[nodiscard]] const JsonValue& operator[](Index index) const {
    return item(static_cast<std::size_t>(index));
  }
  template <std::integral Index>
  [[nodiscard]] JsonValue& operator[](Index index) {
    return const_cast<JsonValue&>(item(static_cast<std::size_t>(index)));
  }
  /// Makes null a list.
  void push_back(JsonValue value);

  /// Members of an object; none for other kinds.
  [[nodiscard]] const Object& items() const;
  /// The member, or nullptr.
  [[nodiscard]] const JsonValue* find(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const { return find(name) != nullptr; }
  /// The member, added as null if it is missing. Makes any other kind an object.
  JsonValue& operator[](std::string_view name);
  /// The member, null if it is missing.
  [[nodiscard]] const JsonValue& at(std::string_view name) const;
  [[nodiscard]] const JsonValue& operator[](std::string_view name) const { return at(name); }
  /// The member if it has the kind of `fallback`, else `fallback`.
  [[nodiscard]] std::string value(std::string_view name, const std::string& fallback) const;
  [[nodiscard]] double value(std::string_view name, double fallback) const;
  [[nodiscard]] JsonValue value(std::string_view name, const JsonValue& fallback) const;
  /// Whether the member was there.
  bool erase(std::string_view name);
  /// Sets all members of `other`, an object.
  void update(const JsonValue& other);

  /// Numbers are equal if their values are; objects if their members are, in any order.
  friend bool operator==(const JsonValue& a, const JsonValue& b) { return a.equals(b); }

 private:
  // Not inline: data_ needs the complete Member.
  void set(bool yes);
  void set(double number);
  void set(std::int64_t number);
  void set(std::uint64_t number);
  [[nodiscard]] const JsonValue& item(std::size_t index) const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] double real() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] std::uint64_t whole() const;
  [[nodiscard]] bool equals(const JsonValue& other) const;

  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Array,
               Object>
      data_;
};

struct JsonValue::Member {
  std::string name;
  JsonValue value;
};

/// `value` in one line, or indented by `indent`. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string json_text(const JsonValue& value, int indent = -1);
/// The same in one line of ASCII.
[[nodiscard]] std::string json_ascii(const JsonValue& value);

}  // namespace rubato
