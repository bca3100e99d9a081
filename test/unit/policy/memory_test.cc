// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/memory.h"

#include <gtest/gtest.h>

#include "test/support/build_snapshot.h"

namespace rubato::test {
namespace {

JobKey key_of(JobId id) {
  JobKey key;
  key.id = id;
  return key;
}

JobMemory remembered(JobId id) {
  JobMemory memory;
  memory.job = key_of(id);
  memory.first_seen = kNow - 100;
  return memory;
}

TEST(FoldRefusals, CountsEachRefusalOfAStart) {
  Memory memory;
  memory.jobs = {remembered(1), remembered(2)};
  memory.jobs[1].refusals = 2;
  const Memory after = fold_refusals(memory, {{key_of(2), "no licence"}}, kNow);
  EXPECT_EQ(after.jobs[0], memory.jobs[0]);
  EXPECT_EQ(after.jobs[1].refusals, 3);
  EXPECT_EQ(after.jobs[1].last_try, kNow);
  EXPECT_EQ(after.jobs[1].refusal, "no licence");
  EXPECT_EQ(after.jobs[1].first_seen, kNow - 100);
}

TEST(FoldRefusals, CountsQuestionsWithoutPlannedNodesApart) {
  Memory memory = fold_refusals({}, {{.job = key_of(2), .reason = "busy", .planned = false}}, kNow);
  memory = fold_refusals(std::move(memory), {{.job = key_of(2), .reason = "busy"}}, kNow);
  EXPECT_EQ(memory.jobs[0].refusals, 2);
  EXPECT_EQ(memory.jobs[0].asked, 1);
}

TEST(FoldRefusals, AddsARecordInKeyOrderWhenTheJobHasNone) {
  Memory memory;
  memory.jobs = {remembered(1), remembered(3)};
  const Memory after = fold_refusals(memory, {{key_of(2), "busy"}}, kNow);
  ASSERT_EQ(after.jobs.size(), 3U);
  EXPECT_EQ(after.jobs[1].job, key_of(2));
  EXPECT_EQ(after.jobs[1].first_seen, kNow);
  EXPECT_EQ(after.jobs[1].refusals, 1);
}

TEST(FoldRefusals, ChangesNothingWithoutRefusals) {
  Memory memory;
  memory.jobs = {remembered(1)};
  EXPECT_EQ(fold_refusals(memory, {}, kNow), memory);
}

TEST(SetBack, ReplacesTimesLaterThanNowByNow) {
  Memory memory;
  memory.jobs = {{.job = {1, 10}, .first_seen = 90, .passed_since = 150, .last_try = 200}};
  memory.reservations = {{.job = {1, 10}, .start = 500, .made = 300}};
  memory.service = {{.job = {1, 10}, .waiting_since = 101, .updated = 100}};
  memory.progress = {{.job = {2, 10}, .time = 1000}};
  ProgressHistory progress_history;
  progress_history.updated = 120;
  progress_history.points = {{.time = 80}, {.time = 100}, {.time = 120}};
  memory.progress_histories = {progress_history};
  Memory expected = memory;
  expected.jobs[0].passed_since = expected.jobs[0].last_try = 100;
  expected.reservations[0].made = 100;
  expected.service[0].waiting_since = 100;
  expected.progress[0].time = 100;
  expected.progress_histories[0].updated = 100;
  expected.progress_histories[0].points.pop_back();
  EXPECT_EQ(set_back(memory, 100), 7);
  EXPECT_EQ(memory, expected);
  EXPECT_EQ(set_back(memory, 100), 0);
}

TEST(FoldReport, KeepsTheLatestReportOfAJobInKeyOrder) {
  Memory memory;
  fold_report({.job = key_of(2), .time = 20, .samples = 5}, memory);
  fold_report({.job = key_of(1), .time = 10, .samples = 1}, memory);
  fold_report({.job = key_of(2), .time = 19, .samples = 4}, memory);
  ASSERT_EQ(memory.progress.size(), 2U);
  EXPECT_EQ(memory.progress[0].job, key_of(1));
  EXPECT_EQ(memory.progress[1].samples, 5);
  fold_report({.job = key_of(2), .time = 20, .samples = 6}, memory);
  EXPECT_EQ(memory.progress[1].samples, 6);
}

TEST(FoldReport, CountsStepsAgainstTheReportBefore) {
  const ReportedJob job{.work = Work{WorkUnit::kSteps, 3000, 0}};
  Memory memory;
  fold_report({.job = {7, 100}, .time = 110, .samples = 256'000, .batch = 256}, memory, job);
  fold_report({.job = {7, 100},
               .restarts = 1,
               .time = 510,
               .samples = 307'200,
               .throughput = 512,
               .batch = 512},
              memory, job);
  ASSERT_EQ(memory.progress.size(), 1U);
  EXPECT_DOUBLE_EQ(memory.progress[0].steps, 1100);
  ProgressReport heard{.time = 510, .samples = 307'200, .throughput = 512, .batch = 512};
  heard.restarts = 1;
  fold_forecast({7, 100}, heard, job.work, memory);
  EXPECT_DOUBLE_EQ(memory.progress_histories[0].total, 307'200 + 1900.0 * 512);
  EXPECT_DOUBLE_EQ(memory.progress_histories[0].left, 1900);
}

TEST(FoldReport, KeepsTheNoiseForTheProfile) {
  const ReportedJob job{.profile = {"lab", "vision"}, .batch = Batch{100, 1000}};
  Memory memory;
  fold_report({.job = key_of(1),
               .time = 10,
               .samples = 1000,
               .throughput = 90,
               .batch = 1000,
               .noise = 800},
              memory, job);
  ASSERT_EQ(memory.noises.size(), 1U);
  EXPECT_EQ(memory.noises[0].job_type, "vision");
  EXPECT_DOUBLE_EQ(memory.noises[0].points[0].noise, 800);
  fold_forecast(key_of(1), {.time = 10, .samples = 1000, .throughput = 90, .batch = 1000},
                Work{WorkUnit::kSamples, 5000, 0}, memory);
  EXPECT_DOUBLE_EQ(memory.progress_histories[0].left, (5000 - 500) / 45.0)
      << "work and throughput in efficient samples";
}

TEST(FoldForecast, MakesTheHistoryOfAJobThatReportsFirst) {
  Memory memory;
  fold_forecast(key_of(2), {.time = 30, .samples = 5, .throughput = 1, .gpus = 4}, {}, memory);
  ASSERT_EQ(memory.progress_histories.size(), 1U);
  EXPECT_EQ(memory.progress_histories[0].job, key_of(2));
  EXPECT_EQ(memory.progress_histories[0].gpus, 4);
  EXPECT_EQ(memory.progress_histories[0].updated, 30);
}

TEST(FoldEnded, AddsTheQualityOfAJudgedJobToItsProfile) {
  Memory memory;
  memory.progress_histories = {{.job = key_of(2), .scored = 5, .quality = 0.8}};
  fold_ended(key_of(1), "a", "resnet50", kNow, memory);
  EXPECT_TRUE(memory.types.empty()) << "a job without forecasts changes nothing";
  fold_ended(key_of(2), "a", "resnet50", kNow, memory);
  ASSERT_EQ(memory.types.size(), 1U);
  EXPECT_EQ(memory.types[0].job_type, "resnet50");
  EXPECT_EQ(memory.types[0].quality, 0.8);
}

TEST(PromotePredictable, PromotesTheJobsThatAreDue) {
  Memory memory;
  memory.progress_histories = {{.job = key_of(1), .due = true}, {.job = key_of(2)}};
  promote_predictable(memory);
  EXPECT_TRUE(memory.progress_histories[0].predictable);
  EXPECT_FALSE(memory.progress_histories[1].predictable);
}

}  // namespace
}  // namespace rubato::test
