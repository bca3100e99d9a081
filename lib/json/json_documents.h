// SPDX-License-Identifier: GPL-2.0-or-later
// Helpers to read documents.
#pragma once

#include <fmt/format.h>

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

/// Parses `text`, checks its schema and hands the object to `read`. No exception leaves it.
template <typename T, typename Function>
Result<T> parse(std::string_view text, const char* schema, Function read) {
  try {
    const JsonValue document = JsonValue::parse(text);
    JsonErrors errors;
    const JsonPath root;
    JsonObject object(JsonItem(document, root, errors));
    object.required("schema", [&](const JsonItem& item) {
      const std::string found = item.text();
      if (!item.failed() && found != schema) {
        item.error(fmt::format("expected \"{}\", found {}", schema, JsonValue(found).dump()));
      }
    });
    if (errors.any()) return fail(*errors.first);
    T value = read(object);
    object.finish();
    if (errors.any()) return fail(*errors.first);
    return value;
  } catch (const JsonValue::exception& error) {
    return fail(fmt::format("not JSON: {}", error.what()));
  }
}

/// Reads an explanation. An error goes to the errors of `item`.
[[nodiscard]] Explanation read_explanation(const JsonItem& item);

}  // namespace rubato::json
