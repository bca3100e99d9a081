// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/statistics_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "lib/base/json_value.h"

namespace rubato {
namespace {

using Json = JsonValue;

TEST(StatisticsTable, NamesEachKeyAndMetricOnce) {
  std::set<std::string_view> keys;
  std::set<std::string_view> metrics;
  for (const Statistic& row : statistics::kTable) {
    EXPECT_TRUE(keys.insert(row.key).second) << row.key;
    EXPECT_FALSE(row.meaning.empty()) << row.key;
    if (row.metric.empty()) continue;
    EXPECT_TRUE(metrics.insert(row.metric).second) << row.metric;
  }
}

TEST(StatisticsTable, MeansNameTheirCounter) {
  for (const Statistic& row : statistics::kTable) {
    EXPECT_EQ(row.count.empty(), row.sum_meaning.empty()) << row.key;
    if (row.count.empty()) continue;
    const Statistic* counter = find_statistic(row.count);
    ASSERT_NE(counter, nullptr) << row.key;
    EXPECT_EQ(counter->kind, StatisticKind::kCounter) << row.key;
    EXPECT_EQ(row.kind, StatisticKind::kMilliseconds) << row.key;
    // "*" stands for the same word in both.
    EXPECT_EQ(row.key.substr(0, row.key.find('*')), row.key.find('*') == std::string_view::npos
                                                        ? row.key
                                                        : row.count.substr(0, row.count.find('*')));
  }
}

TEST(StatisticsTable, NamesMetricsAfterTheirKind) {
  for (const Statistic& row : statistics::kTable) {
    if (row.metric.empty()) continue;
    EXPECT_TRUE(row.metric.starts_with("rubato_")) << row.metric;
    EXPECT_EQ(row.metric.ends_with("_total"), row.kind == StatisticKind::kCounter) << row.metric;
    const bool time = row.kind == StatisticKind::kTime;
    EXPECT_EQ(row.metric.ends_with("_seconds"), row.kind == StatisticKind::kMilliseconds || time)
        << row.metric;
    EXPECT_EQ(row.metric.ends_with("_timestamp_seconds"), time) << row.metric;
  }
}

TEST(StatisticsTable, GivesEveryKeyAHeading) {
  for (const Statistic& row : statistics::kTable) {
    const std::size_t dot = row.key.find('.');
    EXPECT_EQ(row.heading.empty(), dot != std::string_view::npos) << row.key;
    // A member of a group may have a label too; without one it is made from the key.
    if (!row.heading.empty()) EXPECT_FALSE(row.label.empty()) << row.key;
    const bool grouped = std::ranges::any_of(kStatisticGroups, [&](const StatisticGroup& group) {
      return group.key == row.key.substr(0, dot);
    });
    EXPECT_EQ(grouped, dot != std::string_view::npos) << row.key;
  }
}

TEST(StatisticsTable, PutsAValueIntoItsGroup) {
  Json stats;
  put(stats, "rounds", 3);
  put(stats, "mail.taken", 4);
  put(stats, "mail.full", 5);
  put(stats, "locks.*.holds", 6, "start");
  EXPECT_EQ(json_text(stats),
            R"({"rounds":3,"mail":{"taken":4,"full":5},"locks":{"start":{"holds":6}}})");
}

TEST(StatisticsTable, PutsAnObjectWithoutValues) {
  Json stats;
  const std::map<std::string, int> none;
  put_all(stats, "learning.reports.*", none);
  EXPECT_EQ(json_text(stats), R"({"learning":{"reports":{}}})");
  const std::map<std::string, int> two{{"fitted", 2}, {"late", 1}};
  put_all(stats, "learning.reports.*", two);
  EXPECT_EQ(json_text(stats), R"({"learning":{"reports":{"fitted":2,"late":1}}})");
}

TEST(StatisticsTable, FindsARowByKey) {
  EXPECT_EQ(find_statistic("mail.taken")->metric, "rubato_messages_taken_total");
  EXPECT_EQ(find_statistic("locks.start.holds")->key, "locks.*.holds");
  for (const char* none : {"", "mail", "mail.taken.more", "locks.holds", "taken"})
    EXPECT_EQ(find_statistic(none), nullptr) << none;
}

}  // namespace
}  // namespace rubato
