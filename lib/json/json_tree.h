// SPDX-License-Identifier: GPL-2.0-or-later
// Builds a JSON value with the calls of JsonWriter.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/units.h"

namespace rubato {

/// The functions are those of JsonWriter. Numbers keep their type: 1.0 stays a real number.
class JsonTree {
 public:
  using Json = nlohmann::ordered_json;

  void begin_object() { open(Json::object()); }
  void end_object() { close(); }
  void begin_array() { open(Json::array()); }
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
  [[nodiscard]] Json take() { return std::exchange(root_, Json()); }

 private:
  /// An object or array that has no end yet, and its name in the one around it.
  struct Level {
    std::string key;
    Json value;
  };

  void open(Json value) { levels_.push_back({std::move(key_), std::move(value)}); }
  void close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    key_ = std::move(level.key);
    add(std::move(level.value));
  }
  void add(Json value) {
    if (levels_.empty()) {
      root_ = std::move(value);
    } else if (Json& around = levels_.back().value; around.is_array()) {
      around.push_back(std::move(value));
    } else {
      around[key_] = std::move(value);
    }
  }

  std::string key_;
  std::vector<Level> levels_;
  Json root_;
};

}  // namespace rubato
