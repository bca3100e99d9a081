// SPDX-License-Identifier: GPL-2.0-or-later
// Builds a JSON value with the calls of JsonWriter.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/json_value.h"
#include "lib/base/units.h"

namespace rubato {

/// The functions are those of JsonWriter. Numbers keep their type: 1.0 stays a real number.
class JsonTree {
 public:
  void begin_object() { open(JsonValue::object()); }
  void end_object() { close(); }
  void begin_array() { open(JsonValue::array()); }
  void end_array() { close(); }

  void key(std::string_view name) { key_ = name; }
  void value(std::string_view text) { add(std::string(text)); }
  void value(const std::string& text) { add(text); }
  void value(const char* text) { add(text); }
  template <typename Number>
  void value(Number number) {
    add(number);
  }
  void time(Seconds seconds) {
    if (seconds >= kForever) {
      add("forever");
    } else {
      add(seconds);
    }
  }

  template <typename T>
  void put(std::string_view name, const T& item) {
    key(name);
    value(item);
  }
  template <typename T>
  void member(std::string_view name, const T& item, const T& default_value = T{}) {
    if (item != default_value) put(name, item);
  }

  /// The value; the tree is empty afterwards.
  [[nodiscard]] JsonValue take() { return std::exchange(root_, JsonValue()); }

 private:
  /// An object or array that has no end yet, and its name in the one around it.
  struct Level {
    std::string key;
    JsonValue value;
  };

  void open(JsonValue value) { levels_.push_back({std::move(key_), std::move(value)}); }
  void close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    key_ = std::move(level.key);
    add(std::move(level.value));
  }
  void add(JsonValue value) {
    if (levels_.empty()) {
      root_ = std::move(value);
    } else if (JsonValue& around = levels_.back().value; around.is_array()) {
      around.push_back(std::move(value));
    } else {
      around[key_] = std::move(value);
    }
  }

  std::string key_;
  std::vector<Level> levels_;
  JsonValue root_;
};

}  // namespace rubato
