// SPDX-License-Identifier: GPL-2.0-or-later
// A site's history as `sacct --parsable2` prints it.
#include "lib/sim/formats/format_sacct.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace rubato::sim {
namespace {

constexpr const char* kHead =
    "JobID|Submit|Eligible|Start|End|AllocTRES|Timelimit|Account|JobName\n";

std::string at(const char* time) { return std::string("2026-11-02T") + time; }

std::string row(const std::string& id, const char* submit, const char* start, const char* end,
                const char* tres, const char* limit = "01:00:00") {
  return id + "|" + at(submit) + "|" + at(submit) + "|" + at(start) + "|" + at(end) + "|" + tres +
         "|" + limit + "|lab|train\n";
}

SacctHistory parsed(const std::string& rows) {
  auto history = parse_sacct(kHead + rows, "h.txt");
  EXPECT_TRUE(history) << history.error().text;
  return history.value_or(SacctHistory{});
}

std::string refused(const std::string& rows) {
  const auto history = parse_sacct(kHead + rows, "h.txt");
  return history ? "" : history.error().text;
}

TEST(Sacct, WhatIsNoRunOfAJobWithGpusIsCounted) {
  const SacctHistory history =
      parsed(row("1", "08:00:00", "08:01:00", "08:11:00", "cpu=8,gres/gpu:a=2,gres/gpu=2,mem=16G") +
             row("1.batch", "08:01:00", "08:01:00", "08:11:00", "cpu=8") +
             row("1.0", "08:01:00", "08:01:00", "08:11:00", "cpu=8,gres/gpu=2") +
             row("2", "08:00:00", "08:01:00", "08:11:00", "cpu=8,mem=4G,node=1") + "3|" +
             at("08:00:00") + "|Unknown|None|" + at("08:02:00") + "||UNLIMITED|lab|train\n" +
             "4_[7-9]|" + at("08:00:00") + "|Unknown|Unknown|Unknown||Partition_Limit|lab|train\n" +
             row("5", "08:00:00", "08:01:00", "08:01:00", "gres/gpu=1") +
             row("6", "08:00:00", "08:01:00", "08:01:00", ""));
  ASSERT_EQ(history.jobs.size(), 1U);
  EXPECT_EQ(history.jobs[0].gpus, 2);
  EXPECT_EQ(history.jobs[0].cores_per_gpu, 4);
  EXPECT_EQ(history.jobs[0].memory_per_gpu, 8192);
  EXPECT_EQ(history.jobs[0].work, 600);
  EXPECT_EQ(history.steps, 2);
  EXPECT_EQ(history.without_gpus, 1);
  EXPECT_EQ(history.unfinished, 3);
  EXPECT_EQ(history.empty, 1);
}

TEST(Sacct, ARequeuedJobIsAJobARunAndAHeterogeneousOneAJobAComponent) {
  const SacctHistory history = parsed(row("7", "08:30:00", "08:40:00", "08:50:00", "gres/gpu=1") +
                                      row("7", "08:00:00", "08:01:00", "08:11:00", "gres/gpu=1") +
                                      row("9+0", "09:00:00", "09:01:00", "09:11:00", "gres/gpu=1") +
                                      row("9+1", "09:00:00", "09:01:00", "09:11:00", "gres/gpu=4"));
  ASSERT_EQ(history.jobs.size(), 4U);
  EXPECT_EQ(history.jobs[0].key, "7");
  EXPECT_EQ(history.jobs[1].key, "7 run 2");
  EXPECT_EQ(history.requeued, 1);
  EXPECT_EQ(history.het, 2);
}

TEST(Sacct, AJobArrivesWhenItBecameEligible) {
  const std::string tres = "|gres/gpu=1|1-00:00:00|lab|train\n";
  const SacctHistory history =
      parsed("1|" + at("08:00:00") + "|" + at("08:30:00") + "|" + at("08:31:00") + "|" +
             at("08:40:00") + tres + "2|" + at("08:00:00") + "|Unknown|" + at("08:31:00") + "|" +
             at("08:40:00") + tres + "3|" + at("08:00:00") + "|" + at("08:41:00") + "|" +
             at("08:31:00") + "|" + at("08:40:00") + tres);
  ASSERT_EQ(history.jobs.size(), 3U);
  EXPECT_EQ(history.jobs[0].key, "2");
  EXPECT_EQ(history.jobs[1].arrival, 0) << "a requeue moved what its first run says";
  EXPECT_EQ(history.jobs[2].key, "1");
  EXPECT_EQ(history.jobs[2].arrival, 1800);
  EXPECT_EQ(history.real[2].jct(), 600);
  EXPECT_EQ(history.jobs[2].time_limit, 86400);
}

TEST(Sacct, TheOrderOfRowsDoesNotMatter) {
  const std::string a = row("10", "08:00:00", "08:05:00", "08:11:00", "gres/gpu=1");
  const std::string b = row("9", "08:00:00", "08:01:00", "08:12:00", "gres/gpu=2", "UNLIMITED");
  const std::string c = row("9", "08:20:00", "08:21:00", "08:22:00", "gres/gpu=2");
  const SacctHistory one = parsed(a + b + c);
  const SacctHistory other = parsed(c + b + a);
  EXPECT_EQ(one.jobs, other.jobs);
  EXPECT_EQ(one.jobs[1].time_limit, kNever);
}

TEST(Sacct, ErrorsNameFileLineColumnAndWhatWasExpected) {
  EXPECT_EQ(refused("1|yesterday||||||lab|x\n"),
            "h.txt:2:3: found 'yesterday', expected a time, as 2026-11-21T12:30:00");
  EXPECT_EQ(refused(row("1", "08:00:00", "08:01:00", "08:02:00", "gres/gpu=1", "soon")),
            "h.txt:2:94: found 'soon', expected a time limit, as 1-00:00:00 or UNLIMITED");
  EXPECT_EQ(refused(row("1", "08:00:00", "08:01:00", "08:02:00", "gres/gpu=x")),
            "h.txt:2:83: found 'gres/gpu=x', expected resources, as cpu=8,gres/gpu:a100=4,node=1");
  EXPECT_EQ(
      refused("1|2|3\n"),
      "h.txt:2:6: found the end of the line, expected 9 fields between '|', as the heading has");
}

TEST(Sacct, WhenClocksArePutBackTheRestOfTheHistoryCounts) {
  const SacctHistory history = parsed(row("1", "01:10:00", "02:50:00", "02:20:00", "gres/gpu=1") +
                                      row("2", "02:55:00", "02:05:00", "02:20:00", "gres/gpu=1") +
                                      row("3", "08:00:00", "08:05:00", "08:20:00", "gres/gpu=1"));
  ASSERT_EQ(history.jobs.size(), 1U);
  EXPECT_EQ(history.jobs[0].key, "3");
  EXPECT_EQ(history.odd_times, 2);
}

TEST(Sacct, AJobNameMayHoldTheSeparatorWhereItStandsLast) {
  const std::string wide = "1|0|0|0|10|gres/gpu=1|UNLIMITED|lab|a|b\n";
  const SacctHistory history = parsed(wide + "2|0|0|0|10|gres/gpu=1|UNLIMITED|lab|a\n");
  ASSERT_EQ(history.jobs.size(), 2U);
  EXPECT_EQ(history.jobs[0].model, "a|b");
  EXPECT_EQ(history.jobs[1].model, "a");
  const auto first =
      parse_sacct("JobID|JobName|Submit|Start|End|AllocTRES\n1|a|b|0|0|10|gres/gpu=1\n", "h.txt");
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().text,
            "h.txt:2:14: found 'gres/gpu=1', expected 6 fields between '|', as the heading has");
}

class SacctSuite : public testing::Test {
 protected:
  Result<Suite> read(const std::string& rows, const char* cluster) {
    std::ofstream(file_) << kHead << rows;
    return read_sacct_suite(file_, "", *parse_cluster_shape(cluster));
  }
  void TearDown() override { std::remove(file_.c_str()); }

  std::string file_ = testing::TempDir() + "rubato-sacct-" +
                      std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + ".txt";
};

TEST_F(SacctSuite, ATypeBindsWhereTheClusterHasIt) {
  const auto suite = read(row("1", "08:00:00", "08:01:00", "08:11:00", "gres/gpu:a=2") +
                              row("2", "08:00:00", "08:01:00", "08:11:00", "gres/gpu:zz=2"),
                          "a:1x4,b:1x4");
  ASSERT_TRUE(suite) << suite.error().text;
  EXPECT_EQ(suite->jobs[0].types, std::vector<std::string>{"a"});
  EXPECT_TRUE(suite->jobs[1].types.empty());
  EXPECT_EQ(history_of(*suite)->other_type, 1);
}

TEST_F(SacctSuite, CpusAndMemoryAreAtMostThoseOfANode) {
  const std::string rows =
      row("1", "08:00:00", "08:01:00", "08:11:00", "cpu=64,mem=100G,gres/gpu=2");
  const auto narrow = read(rows, "a:1x4/16/64G");
  ASSERT_TRUE(narrow) << narrow.error().text;
  EXPECT_EQ(narrow->jobs[0].cores_per_gpu, 8);
  EXPECT_EQ(narrow->jobs[0].memory_per_gpu, 32 * 1024);
  EXPECT_EQ(history_of(*narrow)->too_wide, 1);
  const auto wide = read(rows, "a:1x4");
  ASSERT_TRUE(wide);
  EXPECT_EQ(history_of(*wide)->too_wide, 0);
}

TEST_F(SacctSuite, AJobThatTheClusterCannotHoldIsNamedWithItsPlace) {
  const auto suite = read(row("31", "08:00:00", "08:01:00", "08:11:00", "gres/gpu=9"), "a:2x4");
  ASSERT_FALSE(suite);
  EXPECT_EQ(suite.error().text, file_ + ":2:84: job 31 had 9 GPUs, the cluster (a:2x4) has fewer");
}

TEST_F(SacctSuite, OneThatTheClusterCannotHoldIsLeftToTheOthers) {
  const auto suite = read(row("31", "08:00:00", "08:01:00", "08:11:00", "gres/gpu=9") +
                              row("32", "08:00:00", "08:01:00", "08:11:00", "gres/gpu=8"),
                          "a:2x4");
  ASSERT_TRUE(suite) << suite.error().text;
  ASSERT_EQ(suite->jobs.size(), 2U);
  EXPECT_EQ(history_of(*suite)->real[0].ideal_s, kNever);
  EXPECT_EQ(history_of(*suite)->real[1].ideal_s, 600);
}

TEST_F(SacctSuite, AHistoryWithoutGpusSaysWhatSlurmNeeds) {
  const auto suite = read(row("31", "08:00:00", "08:01:00", "08:11:00", "cpu=9"), "a:2x4");
  ASSERT_FALSE(suite);
  EXPECT_NE(suite.error().text.find("AccountingStorageTRES=gres/gpu"), std::string::npos);
}

}  // namespace
}  // namespace rubato::sim
