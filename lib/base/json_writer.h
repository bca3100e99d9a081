// SPDX-License-Identifier: GPL-2.0-or-later
// Writes one line of JSON straight into a string: a snapshot is written every round, so no tree of
// values is built first.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "lib/base/units.h"

namespace rubato {

class JsonWriter {
 public:
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }

  /// The name of the next value. Names are plain ASCII.
  void key(std::string_view name) {
    comma();
    out_ += '"';
    out_ += name;
    out_ += "\":";
    first_ = true;
  }

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool yes) {
    comma();
    out_ += yes ? "true" : "false";
  }
  template <typename Number>
  requires std::is_integral_v<Number>
  void value(Number number) {
    comma();
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    out_.append(digits, end);
  }
  /// The shortest text that reads back to the same number. JSON has none for values that are not
  /// finite: null.
  void value(double number);
  /// A number of seconds, "forever" from kForever on.
  void time(Seconds seconds) {
    if (seconds >= kForever) {
      value("forever");
    } else {
      value(seconds);
    }
  }

  /// Member `name`, whatever its value.
  template <typename T>
  void put(std::string_view name, const T& item) {
    key(name);
    value(item);
  }
  /// Member `name`, left out if it has the default value.
  template <typename T>
  void member(std::string_view name, const T& item, const T& default_value = T{}) {
    if (item != default_value) put(name, item);
  }
  void member_time(std::string_view name, Seconds item) {
    if (item == 0) return;
    key(name);
    time(item);
  }

  void reserve(std::size_t bytes) { out_.reserve(bytes); }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void comma() {
    if (!first_) out_ += ',';
    first_ = false;
  }
  void open(char bracket) {
    comma();
    out_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    first_ = false;
  }

  std::string out_;
  bool first_ = true;
};

}  // namespace rubato
