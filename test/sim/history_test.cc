// SPDX-License-Identifier: GPL-2.0-or-later
// The replay of a site's history: jobs at its edges, and backfill by the rules of slurmctld.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "lib/sim/formats/format_sacct.h"

namespace rubato::sim {
namespace {

constexpr const char* kHead =
    "JobID|Submit|Eligible|Start|End|AllocTRES|ReqTRES|Timelimit|Account|JobName\n";

/// A row; a time below 0 is Unknown. `limit` in minutes.
std::string row(const std::string& id, int submit, int start, int end, int gpus, int nodes,
                int limit) {
  const auto time = [](int at) {
    return at < 0 ? std::string("Unknown") : fmt::format("{}", 1'000'000 + at);
  };
  const std::string tres = fmt::format("gres/gpu={},node={}", gpus, nodes);
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{:02}:{:02}:00|lab|train\n", id, time(submit),
                     time(submit), time(start), time(end), start < 0 ? "" : tres, tres, limit / 60,
                     limit % 60);
}

/// Enough short jobs that a history begins with the first end, at 100.
std::string many() {
  std::string rows = row("first", 0, 50, 100, 1, 1, 10);
  for (int i = 0; i < 40; ++i) {
    rows += row(fmt::format("m{}", i), 200 + i, 200 + i, 201 + i, 1, 1, 10);
  }
  return rows;
}

class History : public testing::Test {
 protected:
  Suite read(const std::string& rows, const char* cluster) {
    std::ofstream(file_) << kHead << rows;
    auto suite = read_sacct_suite(file_, "", *parse_cluster_shape(cluster));
    EXPECT_TRUE(suite) << suite.error().text;
    return suite.value_or(Suite{});
  }
  static double start_of(const Suite& suite, const std::string& key, const char* policy) {
    const auto record = run_suite(suite, policy, Information::kLearned, {});
    EXPECT_TRUE(record) << record.error().text;
    for (std::size_t i = 0; i < suite.jobs.size(); ++i) {
      if (suite.jobs[i].key == key) return record->jobs[i].first_start;
    }
    ADD_FAILURE() << "no job " << key;
    return 0;
  }
  void TearDown() override { std::remove(file_.c_str()); }

  std::string file_ = testing::TempDir() + "rubato-history-" +
                      std::to_string(testing::UnitTest::GetInstance()->random_seed()) + ".txt";
};

TEST_F(History, BeginsWithTheFirstEndIfFewJobsStartedBefore) {
  const Suite suite = read(
      many() + row("runs", 10, 20, 500, 2, 1, 60) + row("waits", 30, 150, 500, 1, 1, 60), "a:1x4");
  const SacctHistory& history = *history_of(suite);
  EXPECT_EQ(history.begin, 1'000'100);
  EXPECT_EQ(history.running_at_begin, 1);
  EXPECT_EQ(history.waiting_at_begin, 1);
  EXPECT_EQ(suite.window.first, 1U);
  EXPECT_EQ(suite.jobs[0].key, "runs");
  EXPECT_EQ(suite.jobs[0].running_since, -80);
  EXPECT_EQ(suite.jobs[1].key, "waits");
  EXPECT_EQ(suite.jobs[1].arrival, -70) << "it keeps its submission";
  EXPECT_EQ(history.real[1].first_start, 50);
}

TEST_F(History, BeginsWithTheFirstArrivalIfItIsShort) {
  const Suite suite =
      read(row("a", 0, 10, 100, 1, 1, 60) + row("b", 0, 20, 200, 1, 1, 60), "a:1x4");
  EXPECT_EQ(history_of(suite)->begin, 1'000'000);
  EXPECT_EQ(history_of(suite)->running_at_begin, 0);
  EXPECT_EQ(suite.horizon, kNoHorizon);
}

TEST_F(History, JobsThatRunAtItsBeginKeepTheirGpusUnderEachPolicy) {
  const Suite suite =
      read(many() + row("runs", 10, 20, 5000, 4, 1, 120) + row("waits", 30, 5000, 5500, 4, 1, 60),
           "a:1x4");
  for (const char* policy : {"backfill", "fifo", kRubatoPlace}) {
    EXPECT_GE(start_of(suite, "waits", policy), 4900) << policy;
    EXPECT_EQ(start_of(suite, "runs", policy), -80) << policy;
  }
}

TEST_F(History, JobsWithoutAnEndRunOrWaitWhenItEnds) {
  const Suite suite =
      read(many() + row("runs", 300, 310, -1, 4, 1, 60) +
               row("7_[1-3,8%2]", 320, -1, -1, 1, 1, 60) + row("end", 400, 400, 1000, 0, 1, 60),
           "a:1x4");
  const SacctHistory& history = *history_of(suite);
  EXPECT_EQ(history.running_at_end, 1);
  EXPECT_EQ(history.waiting_at_end, 4);
  EXPECT_EQ(history.without_gpus, 1);
  EXPECT_EQ(suite.horizon, 900);
  const auto record = run_suite(suite, "backfill", Information::kLearned, {});
  ASSERT_TRUE(record);
  EXPECT_FALSE(record->cut) << "the history ends there";
  EXPECT_EQ(record->end, 900);
  for (std::size_t i = suite.jobs.size() - 4; i < suite.jobs.size(); ++i) {
    EXPECT_EQ(record->jobs[i].first_start, kNever) << suite.jobs[i].key;
    EXPECT_EQ(history.real[i].first_start, kNever);
  }
}

TEST_F(History, AJobStaysOnItsNumberOfNodes) {
  const std::string rows = row("a", 0, 0, 1000, 3, 1, 60) + row("b", 1, 1, 900, 3, 1, 60) +
                           row("c", 2, 1000, 2000, 2, 1, 60);
  const Suite suite = read(rows, "a:2x4");
  for (const char* policy : {"backfill", "fifo", kRubatoPlace}) {
    EXPECT_GE(start_of(suite, "c", policy), 900) << policy << ": not on two nodes";
  }
}

TEST_F(History, BackfillStartsOnlyWhatLeavesReservedNodesInTime) {
  const std::string rows = row("a", 0, 0, 3000, 4, 1, 60) + row("b", 0, 0, 1800, 1, 1, 60) +
                           row("both", 10, 3600, 4000, 8, 2, 60) +  // reserves both nodes at 3600
                           row("short", 20, 30, 600, 1, 1, 30) +
                           row("long", 40, 4000, 5000, 1, 1, 90);
  const Suite suite = read(rows, "a:2x4");
  EXPECT_EQ(start_of(suite, "short", "backfill"), 30) << "at the next pass";
  EXPECT_EQ(start_of(suite, "both", "backfill"), 3000) << "when the last job ended";
  EXPECT_EQ(start_of(suite, "long", "backfill"), 3400);
}

}  // namespace
}  // namespace rubato::sim
