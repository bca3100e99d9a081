// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace rubato {
namespace {

LevelInput job(JobId id, double attained, std::optional<double> remaining = {}, int level = 0) {
  return {.job = {id, 1}, .attained = attained, .remaining = remaining, .level = level};
}

std::map<JobId, JobLevel> by_id(const std::vector<JobLevel>& levels) {
  std::map<JobId, JobLevel> result;
  for (const JobLevel& level : levels) result[level.job.id] = level;
  return result;
}

TEST(Levels, JobsThatHadNothingAreFirst) {
  const auto at = by_id(levels({job(1, 0), job(2, 0), job(3, 100), job(4, 5000), job(5, 90000)}));
  EXPECT_EQ(at.at(1).level, 0);
  EXPECT_EQ(at.at(2).level, 0);
  EXPECT_EQ(at.at(1).score, at.at(2).score);
  EXPECT_EQ(at.at(3).level, 1);
  EXPECT_EQ(at.at(5).level, 2);
  EXPECT_EQ(at.at(5).score, 1.0);
}

TEST(Levels, AmongUnservedJobsTheShortestGoesFirst) {
  const auto at = by_id(levels({job(1, 0, 9000), job(2, 0, 10), job(3, 0, 500), job(4, 0, 70)}));
  EXPECT_LT(at.at(2).score, at.at(4).score);
  EXPECT_LT(at.at(4).score, at.at(3).score);
  EXPECT_LT(at.at(3).score, at.at(1).score);
  EXPECT_EQ(at.at(2).level, 0);
  EXPECT_EQ(at.at(1).level, 1) << "half of its score is attained service";
}

TEST(Levels, ThreeJobsStayTogether) {
  for (const JobLevel& level : levels({job(1, 0), job(2, 1e6), job(3, 1e9)})) {
    EXPECT_EQ(level.level, 0);
  }
}

TEST(Levels, ABorderIsCrossedOnlyBeyondTheDeadBand) {
  // Five jobs: the second has score 0.25, the threshold.
  const auto from = [](int level) {
    return by_id(levels({job(1, 0), job(2, 1, {}, level), job(3, 2), job(4, 3), job(5, 4)}))
        .at(2)
        .level;
  };
  EXPECT_EQ(from(0), 0);
  EXPECT_EQ(from(1), 1);
  EXPECT_EQ(from(2), 1);
}

TEST(Levels, AStarvingJobIsPromotedOnce) {
  LevelInput low = job(5, 1e6, {}, 2);
  low.executed = 1000;
  low.waited = 2001;
  const std::vector<LevelInput> others = {job(1, 0), job(2, 1), job(3, 2), job(4, 3)};
  const auto with = [&](const LevelInput& last) {
    std::vector<LevelInput> all = others;
    all.push_back(last);
    return by_id(levels(all)).at(5);
  };
  EXPECT_EQ(with(low).level, 0);
  EXPECT_TRUE(with(low).promoted);
  low.waited = 2000;
  EXPECT_EQ(with(low).level, 2);
  EXPECT_FALSE(with(low).promoted);
  low.executed = 0;
  low.waited = 300;
  EXPECT_EQ(with(low).level, 2) << "least_wait";
}

TEST(Levels, AnExemptJobIsNeverDemoted) {
  LevelInput exempt = job(9, 1e9, 1e9, 2);
  exempt.exempt = true;
  const auto at = by_id(levels({job(1, 0), job(2, 1), job(3, 2), job(4, 3), exempt}));
  EXPECT_EQ(at.at(9).level, 0);
  EXPECT_FALSE(at.at(9).promoted);
}

TEST(Levels, MoreServiceNeverHelpsAndTheOrderOfTheInputDoesNotMatter) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<LevelInput> jobs;
    for (JobId id = 1; id <= 4 + random() % 30; ++id) {
      LevelInput one = job(id, static_cast<double>(random() % 50));
      if (random() % 2 != 0) one.remaining = static_cast<double>(random() % 50);
      one.level = static_cast<int>(random() % 3);
      one.waited = static_cast<Seconds>(random() % 1000);
      one.executed = static_cast<Seconds>(random() % 1000);
      jobs.push_back(one);
    }
    const auto before = levels(jobs);
    std::shuffle(jobs.begin(), jobs.end(), random);
    EXPECT_EQ(levels(jobs), before);
    for (const JobLevel& level : before) {
      EXPECT_GE(level.score, 0);
      EXPECT_LE(level.score, 1);
    }
    LevelInput& more = jobs[random() % jobs.size()];
    const double had = by_id(before).at(more.job.id).score;
    more.attained += 1000;
    EXPECT_GE(by_id(levels(jobs)).at(more.job.id).score, had);
  }
}

}  // namespace
}  // namespace rubato
