// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "lib/base/json_value.h"
#include "lib/json/statistics_table.h"

namespace rubato::test {

/// Adds the keys of the table whose members `group` has; `unknown` gets the other members.
inline void take_keys(const JsonValue& group, const std::string& head,
                      std::set<std::string_view>& keys, std::vector<std::string>& unknown) {
  for (const auto& [member, value] : group.items()) {
    if (value.is_object()) {
      take_keys(value, head + member + ".", keys, unknown);
    } else if (const Statistic* row = find_statistic(head + member)) {
      keys.insert(row->key);
    } else {
      unknown.push_back(head + member);
    }
  }
}

/// stats.json has every statistic of the table and no other; those of the pause only in one.
inline void expect_all_statistics(const std::string& text) {
  Result<JsonValue> parsed = JsonValue::parse(text);
  ASSERT_TRUE(parsed) << parsed.error().text;
  JsonValue& stats = *parsed;
  stats.erase("schema");
  stats.erase("report");
  std::set<std::string_view> keys;
  std::vector<std::string> unknown;
  take_keys(stats, "", keys, unknown);
  EXPECT_EQ(unknown, std::vector<std::string>());
  const bool paused = stats.at("paused").get<bool>();
  for (const Statistic& row : statistics::kTable) {
    if (!paused && row.key.starts_with("pause.")) continue;
    EXPECT_EQ(keys.count(row.key), 1U) << row.key;
  }
}

}  // namespace rubato::test
