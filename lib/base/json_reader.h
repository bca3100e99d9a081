// SPDX-License-Identifier: GPL-2.0-or-later
// A strict reader of JSON values that remembers where it is, so that an error can name the member.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/base/json_value.h"
#include "lib/base/units.h"

namespace rubato {

/// Where the reader is: a chain of members and indices, written only for an error.
struct JsonPath {
  const JsonPath* parent = nullptr;
  std::string_view member;  ///< "" for an index or the document
  std::size_t index = 0;
};

/// Shared by all readers of one document. The first error is kept; values read after it have no
/// meaning.
struct JsonErrors {
  std::optional<std::string> first;

  void add(const JsonPath& path, std::string_view text);
  [[nodiscard]] bool any() const { return first.has_value(); }
};

/// Largest count of anything but ids, priorities and memory: sums and products of a few of them
/// stay within 64 bits.
inline constexpr std::int64_t kJsonMaxCount = 1 << 24;
/// Largest memory, MiB.
inline constexpr std::int64_t kJsonMaxMemory = std::int64_t{1} << 40;
/// Times from here on must be written "forever": a larger number is not exact in every reader.
inline constexpr std::int64_t kJsonMaxTime = std::int64_t{1} << 53;

/// One value of the document.
class JsonItem {
 public:
  JsonItem(const JsonValue& value, const JsonPath& path, JsonErrors& errors)
      : value_(value), path_(path), errors_(errors) {}

  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool yes() const;
  /// A whole number from 0 to `most`.
  [[nodiscard]] std::uint64_t number(std::uint64_t most) const;
  [[nodiscard]] int count() const { return static_cast<int>(number(kJsonMaxCount)); }
  /// A finite number.
  [[nodiscard]] double real() const;
  /// Seconds, or "forever".
  [[nodiscard]] Seconds time() const;

  /// Calls `each(JsonItem)` for the elements of an array, until the first error.
  template <typename Function>
  void elements(Function each) const {
    const std::size_t size = array_size();
    for (std::size_t i = 0; i < size && !errors_.any(); ++i) {
      const JsonPath at{&path_, {}, i};
      each(JsonItem(element(i), at, errors_));
    }
  }

  void error(std::string_view text) const { errors_.add(path_, text); }
  [[nodiscard]] bool failed() const { return errors_.any(); }
  [[nodiscard]] const JsonValue& value() const { return value_; }
  [[nodiscard]] const JsonPath& path() const { return path_; }
  [[nodiscard]] JsonErrors& errors() const { return errors_; }

 private:
  /// 0, with an error, for what is not an array.
  [[nodiscard]] std::size_t array_size() const;
  [[nodiscard]] const JsonValue& element(std::size_t index) const;
  void wrong(std::string_view expected) const;

  const JsonValue& value_;
  const JsonPath& path_;
  JsonErrors& errors_;
};

/// An object: members are read by name; `finish` rejects members that were not read.
class JsonObject {
 public:
  explicit JsonObject(const JsonItem& item);

  /// Calls `read(JsonItem)` if the member is there.
  template <typename Function>
  void optional(std::string_view name, Function read) {
    asked_.push_back(name);
    if (object_ == nullptr || errors_.any()) return;
    const JsonValue* value = find(name);
    if (value == nullptr) return;
    const JsonPath path{&path_, name, 0};
    read(JsonItem(*value, path, errors_));
  }
  /// The same for a member that must be there.
  template <typename Function>
  void required(std::string_view name, Function read) {
    optional(name, read);
    if (object_ != nullptr && !errors_.any() && find(name) == nullptr) missing(name);
  }

  void text(std::string_view name, std::string& to) {
    optional(name, [&](const JsonItem& item) { to = item.text(); });
  }
  void yes(std::string_view name, bool& to) {
    optional(name, [&](const JsonItem& item) { to = item.yes(); });
  }
  void count(std::string_view name, int& to) {
    optional(name, [&](const JsonItem& item) { to = item.count(); });
  }
  void time(std::string_view name, Seconds& to) {
    optional(name, [&](const JsonItem& item) { to = item.time(); });
  }
  void memory(std::string_view name, MiB& to) {
    optional(name,
             [&](const JsonItem& item) { to = static_cast<MiB>(item.number(kJsonMaxMemory)); });
  }

  void error(std::string_view text) { errors_.add(path_, text); }
  /// An error of member `name`, "" for the object itself.
  void error_at(std::string_view name, std::string_view text) {
    errors_.add(JsonPath{&path_, name, 0}, text);
  }
  void finish();
  /// Accepts the members that were not read. Returns an error text for each.
  [[nodiscard]] std::vector<std::string> skip_unknown();

 private:
  /// The member `name`, or nullptr.
  [[nodiscard]] const JsonValue* find(std::string_view name) const;
  void missing(std::string_view name);

  const JsonPath& path_;
  JsonErrors& errors_;
  const JsonValue* object_ = nullptr;
  std::vector<std::string_view> asked_;
};

}  // namespace rubato
