// SPDX-License-Identifier: GPL-2.0-or-later
// Gavel's figures, its random stream, the centre of linear programs, and the input formats.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "lib/sim/engine/mersenne.h"
#include "lib/sim/formats/format_native.h"
#include "lib/sim/formats/format_sacct.h"
#include "lib/sim/peers/format_gavel.h"
#include "lib/sim/policies/shares.h"
#include "lib/sim/solver/lp.h"
#include "test/support/shared_data.h"

namespace rubato::sim {
namespace {

TEST(Mersenne, TheStreamOfASeed) {
  Mersenne random(0);
  EXPECT_EQ(random.next(), 3626764237U);
  EXPECT_EQ(random.next(), 1654615998U);
  EXPECT_EQ(random.next(), 3255389356U);
  Mersenne below(0);
  for (const std::uint32_t wanted : {1U, 1U, 0U, 1U, 2U, 1U, 1U, 1U, 1U, 1U}) {
    EXPECT_EQ(below.below(3), wanted);
  }
  Mersenne shuffle(5);
  for (const char* wanted : {"vpk", "vpk", "pvk", "kvp"}) {
    std::vector<char> items{'v', 'p', 'k'};
    shuffle.shuffle(items);
    EXPECT_EQ(std::string(items.begin(), items.end()), wanted);
  }
}

TEST(SolveCentre, TheMiddleOfTheOptimalFace) {
  // x + y <= 1 with equal worth: any split is optimal, the centre is 1/2 each.
  LinearProgram linear_program;
  linear_program.objective = {1, 1, 0};
  linear_program.rows = {{{{0, 1}, {1, 1}}, 1}, {{{2, 1}}, 3}};
  linear_program.start = {0.1, 0.2, 0.1};
  const auto found = solve_centre(linear_program);
  ASSERT_TRUE(found);
  EXPECT_NEAR((*found)[0], 0.5, 1e-4);
  EXPECT_NEAR((*found)[1], 0.5, 1e-4);
  EXPECT_NEAR((*found)[2], 1.5, 1e-4) << "what does not matter is in its middle";
}

TEST(SolveCentre, AVertexWhereThereIsOneOptimum) {
  LinearProgram linear_program;
  linear_program.objective = {300, 200};
  linear_program.rows = {{{{0, 2}, {1, 1}}, 100}, {{{0, 1}, {1, 1}}, 80}, {{{0, 1}}, 40}};
  linear_program.start = {1, 1};
  const auto found = solve_centre(linear_program);
  ASSERT_TRUE(found);
  EXPECT_NEAR((*found)[0], 20, 1e-3);
  EXPECT_NEAR((*found)[1], 60, 1e-3);
}

TEST(SolveCentre, WhatCannotBeAnsweredIsAnError) {
  LinearProgram outside;
  outside.objective = {1};
  outside.rows = {{{{0, 1}}, 1}};
  outside.start = {2};
  EXPECT_FALSE(solve_centre(outside));
  LinearProgram endless;
  endless.objective = {1};
  endless.start = {1};
  EXPECT_FALSE(solve_centre(endless));
  EXPECT_TRUE(solve_centre({})->empty());
}

TEST(Shares, EqualJobsGetEqualShares) {
  const ShareJob job{1, 1, 100, {2, 1}};
  for (const ShareRule rule : {ShareRule::kLas, ShareRule::kLasAgnostic, ShareRule::kMaxSum,
                               ShareRule::kMakespan, ShareRule::kWaterFilling}) {
    const auto found = shares(rule, {job, job, job, job}, {1, 1});
    ASSERT_TRUE(found);
    for (const auto& row : *found) {
      EXPECT_NEAR(row[0], (*found)[0][0], 1e-3);
      EXPECT_LE(row[0] + row[1], 1 + 1e-9);
    }
  }
}

TEST(Shares, WhoCanRunNowhereHasNone) {
  const ShareJob able{1, 1, 100, {2, 1}};
  const ShareJob unable{1, 1, 100, {0, 0}};
  const auto found = shares(ShareRule::kLas, {unable, able}, {1, 1});
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)[0], (std::vector<double>{0, 0}));
  EXPECT_GT((*found)[1][0], 0.9);
  const auto none = shares(ShareRule::kMakespan, {unable}, {1, 1});
  ASSERT_TRUE(none);
  EXPECT_EQ((*none)[0], (std::vector<double>{0, 0}));
}

TEST(GavelTrace, KeepsWhatItTells) {
  const auto jobs = parse_gavel_trace(
      "Net (batch size 16)\tx\ty\t-n\t1\t500\t2\t1\t-1.0\t0\n"
      "Net (batch size 16)\tx\ty\t-n\t1\t50\t1\t2.5\t-1.0\t7.5\r\n",
      "t");
  ASSERT_TRUE(jobs) << jobs.error().text;
  ASSERT_EQ(jobs->size(), 2U);
  EXPECT_EQ((*jobs)[0].work, 500);
  EXPECT_EQ((*jobs)[0].gpus, 2);
  EXPECT_EQ((*jobs)[0].batch, 32);
  EXPECT_EQ((*jobs)[1].weight, 2.5);
  EXPECT_EQ((*jobs)[1].arrival, 7.5);
}

TEST(GavelTrace, ErrorsNameThePlace) {
  const std::string good = "N\tx\ty\t-n\t1\t500\t2\t1\t-1\t9\n";
  const auto error = [](const std::string& text) {
    return parse_gavel_trace(text, "t").error().text;
  };
  EXPECT_EQ(error(good + "N\tx\ty\t-n\t1\tmany\t2\t1\t-1\t9\n"),
            "t:2:12: found 'many', expected the total of steps, a whole number from 1 to "
            "9007199254740992");
  EXPECT_EQ(error(good + "N\tx\ty\t-n\t1\t5\t2\t1\t-1\t8\n"),
            "t:2:21: found '8', expected an arrival from 9 on, that of the line before");
  EXPECT_EQ(error("N\tx\n"),
            "t:1:4: found the end of the line, expected ten fields between tabs: job type, "
            "command, folder, argument, data, steps, GPUs, weight, SLO, arrival");
  EXPECT_EQ(error(""), "t:1:1: expected a job, found the end");
}

TEST(ClusterShape, IsReadAndWritten) {
  const auto shape = parse_cluster_shape("t4:6x4,a100:2x8/96/1600G");
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->gpus(), 40);
  EXPECT_EQ(shape->nodes(), 8);
  EXPECT_EQ(shape->type_of("a100"), 1);
  EXPECT_EQ(shape->groups[1].memory, 1600L << 10);
  EXPECT_EQ(parse_cluster_shape(shape->text()).value(), *shape);
  const auto error = [](const char* text) { return parse_cluster_shape(text).error().text; };
  EXPECT_EQ(error("t4:6y4"), "cluster:5: 'y4' where 'x' (TYPE:NODESxGPUS, as t4:6x4) was expected");
  EXPECT_EQ(error("t4:0x4"),
            "cluster:4: '0x4' where the number of nodes, a whole number from 1 to 100000 was "
            "expected");
  EXPECT_EQ(error("t4:1x4,t4:1x4"),
            "cluster:8: 't4:1x4' where a type that was not named before was expected");
  EXPECT_EQ(error(""), "cluster:1: the end where TYPE:NODESxGPUS, as t4:6x4 was expected");
}

TEST(NativeFormat, TheOrderOfRowsDoesNotMatter) {
  const std::string head = "job,arrival_s,gpus,run_s,types\n";
  const auto read = [&](const std::string& rows) {
    return parse_native_jobs(CsvTable::parse(head + rows, "w").value());
  };
  const auto jobs = read("b,5,1,10,\na,5,2,20,x/y\nc,0,1,5,x\n");
  ASSERT_TRUE(jobs) << jobs.error().text;
  EXPECT_EQ(*jobs, read("c,0,1,5,x\na,5,2,20,x/y\nb,5,1,10,\n").value());
  EXPECT_EQ((*jobs)[1].types, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(read("a,5,0,10,\n").error().text,
            "w:2:5: gpus '0': expected a whole number from 1 to 65536");
  EXPECT_EQ(read("a,5,1,,\n").error().text, "w:2:1: job 'a': expected run_s or work, one of them");
  EXPECT_EQ(read("a,5,1,1,\na,6,1,1,\n").error().text,
            "w:3:1: job 'a': that name stands on line 2 too");
  EXPECT_EQ(
      parse_native_jobs(CsvTable::parse("job,arival_s,gpus\na,1,1\n", "w").value()).error().text,
      "w:1:5: no column 'arival_s' is known; did you mean arrival_s?");
}

TEST(NativeFormat, SizesAndChangesAreRead) {
  const auto read = [&](const std::string& rows) {
    return parse_native_jobs(
        CsvTable::parse("job,arrival_s,gpus,run_s,sizes,resize_s,restarts,max_gpus\n" + rows, "w")
            .value());
  };
  const auto jobs = read("a,0,4,9,8/1/4/1,0,0,\nb,1,2,9,,,,\nc,2,2,9,1/2,3.5,1,4\n");
  ASSERT_TRUE(jobs) << jobs.error().text;
  const SimJob& a = jobs->at(0);
  EXPECT_EQ(a.sizes, (std::vector{1, 4, 8}));
  EXPECT_EQ((std::pair{a.min_gpus, a.max_gpus}), (std::pair{1, 8}));
  EXPECT_EQ(a.resize_s, 0);
  EXPECT_FALSE(a.restarts);
  const SimJob& b = jobs->at(1);
  EXPECT_TRUE(b.sizes.empty() && b.rigid() && b.restarts);
  EXPECT_LT(b.resize_s, 0) << "it changes by a restart only";
  EXPECT_EQ(jobs->at(2).max_gpus, 4) << "a range counts";
  EXPECT_EQ(jobs->at(2).resize_s, 3.5);
  EXPECT_EQ(read("a,0,4,9,1/two,,,\n").error().text,
            "w:2:9: sizes '1/two': 'two': expected whole numbers from 1 to 65536 with / between "
            "them");
  EXPECT_EQ(read("a,0,4,9,,,2,\n").error().text, "w:2:11: restarts '2': expected 0 or 1");
  EXPECT_EQ(read("a,0,4,9,1/8,,,4\n").error().text,
            "w:2:9: sizes '1/8': expected sizes from min_gpus to max_gpus");
}

const std::string kSacctHead = "JobID|Submit|Start|End|AllocTRES|Timelimit|JobName\n";

TEST(SacctFormat, KeepsWhatRanOnGpus) {
  const std::string rows =
      "7|2026-03-01T10:00:10|2026-03-01T10:00:40|2026-03-01T11:00:40|cpu=8,gres/gpu=2,node=1|"
      "1-00:00:00|train\n";
  const std::string more =
      "6_3|2026-02-28T23:59:50|2026-03-01T00:00:00|2026-03-01T00:10:00|"
      "gres/gpu:a100=4,gres/gpu=4|05:00|x\n"
      "8|2026-03-01T10:00:10|Unknown|Unknown||UNLIMITED|y\n"
      "9|1772359210|1772359210|1772359215|cpu=1||z\n";
  const std::string steps = "7.batch|2026-03-01T10:00:40|Unknown|Unknown|cpu=8||s\n";
  const auto history = parse_sacct(kSacctHead + rows + steps + more, "h");
  ASSERT_TRUE(history) << history.error().text;
  ASSERT_EQ(history->jobs.size(), 2U);
  EXPECT_EQ(history->steps, 1);
  EXPECT_EQ(history->unfinished, 1);
  EXPECT_EQ(history->without_gpus, 1);
  const SimJob& early = history->jobs[0];
  EXPECT_EQ(early.key, "6_3");
  EXPECT_EQ(early.gpus, 4);
  EXPECT_EQ(early.types, std::vector<std::string>{"a100"});
  EXPECT_EQ(early.work, 600);
  EXPECT_EQ(early.time_limit, 600) << "5 minutes, and it ran on for as long";
  EXPECT_EQ(history->jobs[1].arrival, 36020);
  EXPECT_EQ(history->jobs[1].time_limit, 86400);
  EXPECT_EQ(history->real[1].first_start, 36050);
  EXPECT_EQ(history->real[1].finish, 39650);
  const auto turned = parse_sacct(kSacctHead + more + steps + rows, "h");
  ASSERT_TRUE(turned);
  EXPECT_EQ(turned->jobs, history->jobs);
}

TEST(SacctFormat, ErrorsNameThePlace) {
  const auto error = [](const std::string& text) { return parse_sacct(text, "h").error().text; };
  EXPECT_EQ(error("JobID|Sumbit|Start|End|AllocTRES\n"),
            "h:1:1: no column Submit; the heading has 'Sumbit'");
  EXPECT_EQ(error(kSacctHead + "7|soon|Unknown|Unknown|||\n"),
            "h:2:3: found 'soon', expected a time, as 2026-11-21T12:30:00");
  EXPECT_EQ(error(kSacctHead + "7|5|6|7|gpus||\n"),
            "h:2:9: found 'gpus', expected resources, as cpu=8,gres/gpu:a100=4,node=1");
  EXPECT_EQ(error(kSacctHead + "7|5\n"),
            "h:2:4: found the end of the line, expected 7 fields between '|', as the heading has");
  EXPECT_EQ(error(""), "h:1:1: expected a heading, found the end");
}

/// Checks every required figure of a suite.
void check_suite(const std::string& name) {
  const auto data = test::shared_data("gavel");
  if (!data) GTEST_SKIP() << "no shared data";
  const auto suite = make_suite(name, *data, 0);
  ASSERT_TRUE(suite) << suite.error().text;
  ASSERT_FALSE(suite->published.empty());
  for (const PublishedFigure& published : suite->published) {
    const auto record = run_suite(*suite, published.policy, Information::kLearned, RunControl());
    ASSERT_TRUE(record) << record.error().text;
    const Metrics m = measure(*record, suite->window, suite->cluster.gpus(), suite->origin);
    const double found = published.metric == "makespan_s" ? m.makespan_s : m.avg_jct_s;
    EXPECT_NEAR(found / published.value, 1, published.within) << name << " " << published.policy;
  }
}

TEST(Gavel, Continuous) { check_suite("gavel-cont48"); }
TEST(Gavel, Static) { check_suite("gavel-static48"); }
TEST(Gavel, MultipleAtLowLoad) { check_suite("gavel-multi-108@1.6"); }
TEST(Gavel, MultipleAtMiddleLoad) { check_suite("gavel-multi-108@3.0"); }
TEST(Gavel, MultipleAtHighLoad) { check_suite("gavel-multi-108@6.0"); }

TEST(Gavel, FirstInFirstOutToEveryDigitShown) {
  const auto data = test::shared_data("gavel");
  if (!data) GTEST_SKIP() << "no shared data";
  const auto suite = make_suite("gavel-cont48", *data, 0);
  ASSERT_TRUE(suite) << suite.error().text;
  const auto hours = [&](const char* policy) {
    const auto record = run_suite(*suite, policy, Information::kKnown, {}).value();
    return measure(record, suite->window, suite->cluster.gpus(), suite->origin);
  };
  EXPECT_NEAR(hours("fifo").avg_jct_s / 3600, 9.973, 0.0006);
  EXPECT_NEAR(hours("fifo").p99_jct_s / 3600, 31.546, 0.0006);
  EXPECT_NEAR(hours("fifo-het").avg_jct_s / 3600, 5.424, 0.0006);
  EXPECT_NEAR(hours("fifo-het").makespan_s / 3600, 20.089, 0.0006);
}

}  // namespace
}  // namespace rubato::sim
