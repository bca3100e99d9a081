// SPDX-License-Identifier: GPL-2.0-or-later
// Helpers to read documents.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/json_reader.h"
#include "lib/core/plan.h"

namespace rubato::json {

/// Whether each item is less than the next one.
template <typename T, typename Compare>
bool ascending(const std::vector<T>& items, Compare less) {
  for (std::size_t i = 1; i < items.size(); ++i) {
    if (!less(items[i - 1], items[i])) return false;
  }
  return true;
}

/// Parses `text`, checks its schema and hands the object to `read`. Returns what is wrong, or
/// nothing. No exception leaves it.
[[nodiscard]] std::optional<std::string> read_document(
    std::string_view text, const char* schema, const std::function<void(JsonObject&)>& read);

/// The same for a `read` that returns the value.
template <typename T, typename Function>
Result<T> parse(std::string_view text, const char* schema, Function read) {
  T value;
  auto wrong = read_document(text, schema, [&](JsonObject& object) { value = read(object); });
  if (wrong) return fail(*std::move(wrong));
  return value;
}

/// Reads an explanation. An error goes to the errors of `item`.
[[nodiscard]] Explanation read_explanation(const JsonItem& item);

}  // namespace rubato::json
