// SPDX-License-Identifier: GPL-2.0-or-later
// From the days of stats.json to the sentence about them.
#include "tools/rubato/stats/verdict.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rubato::tools {
namespace {

constexpr Seconds kDay = 86400;
constexpr Seconds kToday = 20000 * kDay;  // 2024-10-04

/// `jobs` jobs that waited `mean` seconds each, so many days ago.
void add_day(Periods& periods, int ago, const std::string& mode, int jobs, Seconds mean) {
  Period& day = periods.at(kToday - ago * kDay + 5, mode);
  for (int i = 0; i < jobs; ++i) day.waits.add(mean);
  periods.until = std::max(periods.until, day.day + 10);
}

TEST(Verdict, SaysNothingStartedWithoutDays) {
  EXPECT_EQ(verdict_of({}, "place", 7).sentence, "No managed job has started yet.");
  Periods periods;
  add_day(periods, 0, "place", 0, 0);
  EXPECT_EQ(verdict_of(periods, "place", 7).sentence,
            "No managed job has started since 2024-09-28.");
}

TEST(Verdict, HasNothingToCompareWithWithoutObserve) {
  Periods periods;
  add_day(periods, 0, "place", 2, 90);
  EXPECT_EQ(verdict_of(periods, "place", 7).sentence,
            "2 managed jobs started under Rubato on 2024-10-04; they waited 1:30 on average. There "
            "is no day of mode observe to compare with.");
}

TEST(Verdict, IsNotSureWithFewDays) {
  Periods periods;
  add_day(periods, 2, "observe", 1, 600);
  add_day(periods, 1, "place", 1, 60);
  add_day(periods, 0, "elastic", 1, 120);
  const PeriodVerdict verdict = verdict_of(periods, "elastic", 7);
  EXPECT_FALSE(verdict.low);
  EXPECT_EQ(verdict.rubato.days, 2);
  EXPECT_NE(verdict.sentence.find("That is 8:30 less than the 10:00 of 1 managed job that stock "
                                  "Slurm started on 2024-10-02. Not sure: an interval needs 3 days "
                                  "of each, and there are 1 and 2."),
            std::string::npos)
      << verdict.sentence;
}

TEST(Verdict, CountsOnlyTheLastDaysOfRubatoAndAllDaysOfStock) {
  Periods periods;
  add_day(periods, 30, "observe", 4, 100);
  add_day(periods, 8, "place", 5, 1000);
  add_day(periods, 6, "place", 3, 10);
  add_day(periods, 0, "place", 1, 10);
  const PeriodVerdict verdict = verdict_of(periods, "place", 7);
  EXPECT_EQ(verdict.rubato.waits.jobs, 4);
  EXPECT_EQ(verdict.stock.waits.jobs, 4);
  EXPECT_EQ(verdict.from, kToday - 6 * kDay);
}

// The jackknife of a ratio of sums, by hand: three days of 100, 200 and 300 s, one job each. The
// means without one day are 250, 200 and 150; their variance times (n - 1) / n times n is 3333.3.
TEST(Verdict, HasTheIntervalOfTheJackknife) {
  Periods periods;
  for (int i = 0; i < 3; ++i) add_day(periods, 10 + i, "observe", 1, 100 * (i + 1));
  for (int i = 0; i < 3; ++i) add_day(periods, i, "place", 1, 50);
  const PeriodVerdict verdict = verdict_of(periods, "place", 7);
  ASSERT_TRUE(verdict.low);
  // All of the variance is of stock Slurm's three days: two degrees of freedom.
  const double half = 2.920 * std::sqrt(10000.0 / 3);
  EXPECT_NEAR(*verdict.low, 150 - half, 1e-6);
  EXPECT_NEAR(*verdict.high, 150 + half, 1e-6);
  EXPECT_NE(verdict.sentence.find("It may be chance: 90% interval of the difference -0:19 to 5:19"),
            std::string::npos)
      << verdict.sentence;
}

TEST(Verdict, IsMoreThanChanceWhereTheIntervalHasNoZero) {
  Periods periods;
  for (int i = 0; i < 5; ++i) add_day(periods, 10 + i, "observe", 10, 600 + i);
  for (int i = 0; i < 5; ++i) add_day(periods, i, "place", 10, 60 + i);
  const PeriodVerdict better = verdict_of(periods, "place", 7);
  EXPECT_NE(better.sentence.find("That is 9:00 less than"), std::string::npos) << better.sentence;
  EXPECT_NE(better.sentence.find("More than chance"), std::string::npos);
  Periods worse;
  for (int i = 0; i < 5; ++i) add_day(worse, 10 + i, "observe", 10, 60 + i);
  for (int i = 0; i < 5; ++i) add_day(worse, i, "place", 10, 600 + i);
  EXPECT_NE(verdict_of(worse, "place", 7).sentence.find("That is 9:00 more than"),
            std::string::npos);
}

TEST(Verdict, TellsOfCompletionsAndChanges) {
  Periods periods;
  add_day(periods, 1, "observe", 1, 60);
  periods.at(kToday - kDay, "observe").completions.add(7200);
  add_day(periods, 0, "elastic", 1, 60);
  Period& day = periods.at(kToday, "elastic");
  day.completions.add(3600);
  day.completions.add(1800);
  day.changes = {.grown = 2, .stopped = 1, .failed = 4, .measured = 2, .cost = 30, .gain = 600};
  const std::string sentence = verdict_of(periods, "elastic", 7).sentence;
  EXPECT_NE(sentence.find(" From eligible to end 2 jobs took 45:00 on average, before that 1 took "
                          "2:00:00. 3 changes of running jobs (2 grown, 1 stopped); by forecast "
                          "their jobs end 10:00 earlier in all; 2 measured ones cost 0:30 without "
                          "progress."),
            std::string::npos)
      << sentence;
}

TEST(Verdict, OfModeObserveSaysWhatWouldHaveStartedEarlier) {
  Periods periods;
  add_day(periods, 0, "observe", 10, 60);
  periods.at(kToday, "observe").earlier.add(30);
  periods.at(kToday, "observe").not_earlier = 9;
  EXPECT_EQ(verdict_of(periods, "observe", 7).sentence,
            "10 managed jobs started under stock Slurm on 2024-10-04 (mode observe); they waited "
            "1:00 on average. Rubato would have started 1 of 10 earlier, by 0:30 on average; each "
            "was judged alone, so this is no measured gain.");
}

}  // namespace
}  // namespace rubato::tools
