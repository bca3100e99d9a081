// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/period.h"

#include <gtest/gtest.h>

#include "lib/base/json_value.h"

namespace rubato {
namespace {

constexpr Seconds kDay = 86400;
constexpr Seconds kNoon = 20000 * kDay + 43200;

TEST(Periods, a_day_has_one_a_mode) {
  Periods periods;
  periods.at(kNoon, "observe").waits.add(10);
  periods.at(kNoon + 5, "observe").waits.add(30);
  periods.at(kNoon + 10, "place").started = 1;
  ASSERT_EQ(periods.all().size(), 2U);
  EXPECT_EQ(periods.all()[0].day, 20000 * kDay);
  EXPECT_EQ(periods.all()[0].waits, (WaitCount{2, 40, 30}));
  EXPECT_EQ(periods.all()[1].mode, "place");
}

TEST(Periods, old_days_go) {
  Periods periods;
  for (int i = 0; i < 100; ++i) periods.at(kNoon + i * kDay, "place").started = i;
  ASSERT_EQ(periods.all().size(), Periods::kMaxPeriods);
  EXPECT_EQ(periods.all().back().started, 99);
  EXPECT_EQ(periods.all().front().started, 100 - static_cast<int>(Periods::kMaxPeriods));
}

TEST(Periods, are_read_back) {
  Periods periods;
  periods.until = kNoon;
  Period& day = periods.at(kNoon, "observe");
  day.waits.add(10);
  day.by_partition["gpu"].add(10);
  day.by_job_type[""].add(10);
  day.earlier.add(7);
  day.not_earlier = 3;
  day.gpu_seconds = 12.5;
  day.reports = 4;
  day.completions.add(100);
  day.changes = {.grown = 1,
                 .shrunk = 2,
                 .restarted = 3,
                 .stopped = 4,
                 .failed = 5,
                 .measured = 6,
                 .cost = 7.5,
                 .gain = 8.5};
  const auto back = Periods::from_json(periods.text());
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(*back, periods);
}

// stats.json contains these bytes.
TEST(Periods, have_this_form) {
  Periods periods;
  periods.until = 90000;
  Period& day = periods.at(86400, "place");
  day.waits.add(3);
  day.by_partition["gpu"].add(3);
  EXPECT_EQ(json_text(periods.json()),
            R"({"until":90000,"days":[{"day":86400,"mode":"place","waits":{"jobs":1,"seconds":3,)"
            R"("longest":3},"by_partition":{"gpu":{"jobs":1,"seconds":3,"longest":3}},)"
            R"("by_job_type":{},"started":0,"earlier":{"jobs":0,"seconds":0,"longest":0},)"
            R"("not_earlier":0,"gpu_seconds":0.0,"reports":0}]})");
  EXPECT_FALSE(periods.json(false)["days"][0].contains("by_partition"));
}

TEST(Periods, of_a_later_release_are_kept) {
  const auto read = Periods::from_json(
      R"({"schema":"rubato.periods/1","colour":"blue","days":[{"started":3,"colour":"red"}]})");
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(json_text(read->json()["days"][0]["started"]), "3");
}

TEST(Periods, a_broken_file_is_an_error_and_not_a_crash) {
  EXPECT_FALSE(Periods::from_json("{"));
  EXPECT_FALSE(Periods::from_json("{}"));
  EXPECT_EQ(
      Periods::from_json(R"({"schema":"rubato.periods/1","days":[{"started":-1}]})").error().text,
      "days[0].started: expected a number from 0 on, found -1");
  EXPECT_FALSE(
      Periods::from_json(R"({"schema":"rubato.periods/1","days":[{"by_partition":{"gpu":7}}]})"));
}

}  // namespace
}  // namespace rubato
