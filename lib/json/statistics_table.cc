// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/statistics_table.h"

#include <string>
#include <utility>

#include "lib/base/json_value.h"

namespace rubato {
namespace {

/// The part of `key` before the first dot, which is taken off; all of it if there is no dot.
std::string_view take_part(std::string_view& key) {
  const std::size_t dot = key.find('.');
  const std::string_view part = key.substr(0, dot);
  key = dot == std::string_view::npos ? std::string_view() : key.substr(dot + 1);
  return part;
}

bool matches(std::string_view row, std::string_view key) {
  while (!row.empty() && !key.empty()) {
    const std::string_view wanted = take_part(row);
    if (const std::string_view part = take_part(key); wanted != "*" && wanted != part) return false;
  }
  return row.empty() && key.empty();
}

}  // namespace

void put(JsonValue& stats, StatisticKey key, JsonValue value, std::string_view name) {
  JsonValue* place = &stats;
  for (std::string_view rest = key.text(); !rest.empty();) {
    const std::string_view part = take_part(rest);
    place = &(*place)[std::string(part == "*" ? name : part)];
  }
  *place = std::move(value);
}

void put_object(JsonValue& stats, StatisticKey key) {
  JsonValue* place = &stats;
  std::string_view rest = key.text();
  while (rest.find('.') != std::string_view::npos) place = &(*place)[std::string(take_part(rest))];
  if (place->is_null()) *place = JsonValue::object();
}

const Statistic* find_statistic(std::string_view key) {
  for (const Statistic& row : statistics::kTable) {
    if (matches(row.key, key)) return &row;
  }
  return nullptr;
}

}  // namespace rubato
