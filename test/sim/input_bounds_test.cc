// SPDX-License-Identifier: GPL-2.0-or-later
// Limits of input values, and jobs that can never run.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "lib/base/csv.h"
#include "lib/sim/engine/engine.h"
#include "lib/sim/formats/field_lines.h"
#include "lib/sim/formats/format_native.h"
#include "lib/sim/formats/format_sacct.h"
#include "lib/sim/peers/format_gavel.h"

namespace rubato::sim {
namespace {

class Bounds : public testing::Test {
 protected:
  static std::string file(const char* name) {
    return testing::TempDir() + "rubato-bounds-" + std::to_string(::getpid()) + name;
  }
  static std::string write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
    return path;
  }
  void TearDown() override {
    std::remove(jobs_.c_str());
    std::remove(speeds_.c_str());
  }
  Result<Suite> read(const std::string& jobs, const std::string& speeds, const char* cluster) {
    write(jobs_, jobs);
    if (!speeds.empty()) write(speeds_, speeds);
    return read_native_suite(jobs_, speeds.empty() ? "" : speeds_,
                             parse_cluster_shape(cluster).value());
  }
  /// The error text after the name of the file.
  std::string error(const std::string& jobs, const std::string& speeds = "",
                    const char* cluster = "t4:1x4") {
    const auto suite = read(jobs, speeds, cluster);
    if (suite) return "";
    const std::string& text = suite.error().text;
    return text.substr(text.starts_with(jobs_) ? jobs_.size() : speeds_.size());
  }

  std::string jobs_ = file("-jobs.csv");
  std::string speeds_ = file("-speeds.csv");
};

constexpr const char* kSpeeds = "model,gpu_type,gpus,rate\n";
constexpr const char* kWork = "job,arrival_s,gpus,model,work\n";

TEST_F(Bounds, TimesAreAtMostThreeHundredYears) {
  const std::string most = "expected at most 10000000000 s, about 300 years";
  const std::string head = "job,arrival_s,gpus,run_s,start_s,restart_s,time_limit_s\n";
  EXPECT_EQ(error(head + "a,1e11,1,1,,,\n"), ":2:3: arrival_s '1e11': " + most);
  EXPECT_EQ(error(head + "a,0,1,1e11,,,\n"), ":2:7: run_s '1e11': " + most);
  EXPECT_EQ(error(head + "a,0,1,1,1e11,,\n"), ":2:9: start_s '1e11': " + most);
  EXPECT_EQ(error(head + "a,0,1,1,,1e11,\n"), ":2:10: restart_s '1e11': " + most);
  EXPECT_EQ(error(head + "a,0,1,1,,,1e11\n"), ":2:11: time_limit_s '1e11': " + most);
  EXPECT_EQ(error(head + "a,1e10,1,1e10,1e10,1e10,1e10\n"), "");
}

TEST_F(Bounds, WorkEndsInThatTimeToo) {
  const std::string throughputs = std::string(kSpeeds) + "m,t4,1,";
  EXPECT_EQ(error(std::string(kWork) + "a,0,1,m,1e9\n", throughputs + "0.01\n"),
            ":2:9: work '1e9': it would run for 1e+11 s, expected at most 10000000000 s");
  EXPECT_EQ(error(std::string(kWork) + "a,0,1,m,1\n", throughputs + "1e-300\n"),
            ":2:8: rate '1e-300': expected 0, or a number from 1e-09 to 1000000000000");
  EXPECT_EQ(error(std::string(kWork) + "a,0,1,m,1\n", throughputs + "0\n"), "");
}

TEST_F(Bounds, AMissingSpeedNamesWhatIsThere) {
  const std::string jobs = std::string(kWork) + "a,0,1,vision,10\n";
  EXPECT_EQ(error(jobs),
            ":2:7: model 'vision': no speed of this model; --profiles FILE says how fast it is");
  EXPECT_EQ(error(jobs, std::string(kSpeeds) + "vision,a100,1,2\nvision,t4,1,1\n", "t44:1x4"),
            ":2:7: model 'vision': no speed of this model on GPUs of the cluster (t44); the "
            "profiles have a100, t4; did you mean t4?");
  EXPECT_EQ(error(jobs, std::string(kSpeeds) + "visoin,t4,1,1\n"),
            ":2:7: model 'vision': no speed of this model in the profiles; did you mean visoin?");
}

TEST_F(Bounds, NothingIsSaidTwice) {
  EXPECT_EQ(error(std::string(kWork) + "a,0,1,m,10\n",
                  std::string(kSpeeds) + "m,t4,1,1\nm,t4,2,2\nm,t4,1,3\n"),
            ":4:6: gpus '1': model 'm' on these GPUs is on line 2 too");
  EXPECT_EQ(error("job,arrival_s,gpus,run_ss,run_s\n"),
            ":1:20: no column 'run_ss' is known; did you mean run_s?");
  EXPECT_FALSE(parse_cluster_shape("a100@ib@x:2x8"));
  EXPECT_TRUE(parse_cluster_shape("a100@ib:2x8"));
}

TEST_F(Bounds, JobsThatCanNeverRunAreNamed) {
  const auto text = [&](const char* jobs, const char* cluster, const std::string& speeds = "") {
    const auto suite = read(jobs, speeds, cluster);
    EXPECT_TRUE(suite) << suite.error().text;
    return suite ? never_run_text(*suite->truth, suite->cluster, suite->jobs) : "";
  };
  EXPECT_EQ(text("job,arrival_s,gpus,run_s\nz,5,1,1\nbig,0,100,1\n", "a100:2x8"),
            "1 of 2 jobs can never run on this cluster: first big, line 3: needs 100 GPUs of one "
            "type, a100 has 16");
  EXPECT_EQ(text("job,arrival_s,gpus,run_s\nz,5,8,1\n", "a100:2x8,t4:1x4"), "");
  EXPECT_EQ(text("job,arrival_s,gpus,min_gpus,run_s\nz,5,32,8,1\n", "a100:2x8"), "")
      << "it may run on fewer";
  EXPECT_EQ(text("job,arrival_s,gpus,model,work\nz,5,4,m,1\n", "t4:2x8",
                 std::string(kSpeeds) + "m,t4,1,1\nm,t4,2,1\n"),
            "1 of 1 jobs can never run on this cluster: first z, line 2: no speed for model 'm' "
            "with 4 GPUs of t4");
  EXPECT_EQ(text("job,arrival_s,gpus,run_s,cores_per_gpu\nz,5,4,1,8\n", "t4:2x8/12"),
            "1 of 1 jobs can never run on this cluster: first z, line 2: needs 8 cores and 0 MiB "
            "with each of 4 GPUs, more than the nodes have");
}

TEST_F(Bounds, TheMakespanIsTheEndOfTheLastJobThatEnded) {
  const auto figures = [&](const char* jobs) {
    const auto suite = read(jobs, "", "a100:2x8");
    const auto record = run_suite(*suite, "rubato-place", Information::kLearned, {});
    EXPECT_TRUE(record) << (record ? "" : record.error().text);
    return measure(*record, {}, 16, 0);
  };
  const Metrics one = figures("job,arrival_s,gpus,run_s\nbig,0,100,1\nsmall,0,1,600\n");
  EXPECT_EQ(one.finished, 1);
  EXPECT_NEAR(one.makespan_s, one.avg_jct_s, 1e-6);
  EXPECT_TRUE(std::isnan(figures("job,arrival_s,gpus,run_s\nbig,0,100,1\n").makespan_s));
}

TEST(BoundsOfHistories, DatesAreOfTheCalendarAndARowCountsOnce) {
  const auto read = [](const std::string& rows) {
    return parse_sacct("JobID|Submit|Start|End|AllocTRES\n" + rows, "h");
  };
  const std::string rest = "|2026-03-01T00:00:00|2026-03-01T01:00:00|gres/gpu=1\n";
  const std::string time = "expected a time, as 2026-11-21T12:30:00";
  EXPECT_EQ(read("1|2026-02-30T00:00:00" + rest).error().text,
            "h:2:3: found '2026-02-30T00:00:00', " + time);
  EXPECT_EQ(read("1|1969-12-31T00:00:00" + rest).error().text,
            "h:2:3: found '1969-12-31T00:00:00', " + time);
  EXPECT_EQ(read("1|7258118401" + rest).error().text, "h:2:3: found '7258118401', " + time);
  const std::string good = "1|2024-02-29T00:00:00" + rest;
  const auto twice = read(good + good);
  ASSERT_TRUE(twice) << twice.error().text;
  EXPECT_EQ(twice->jobs.size(), 1U);
  EXPECT_EQ(twice->twice, 1);
  EXPECT_EQ(twice->requeued, 0);
}

TEST(BoundsOfTraces, AnArrivalIsBounded) {
  const auto jobs = parse_gavel_trace("m\tc\td\ta\t0\t10\t1\t1\t-1\t1e11\n", "t");
  ASSERT_FALSE(jobs);
  EXPECT_NE(jobs.error().text.find("the arrival in seconds, at most 10000000000"),
            std::string::npos);
}

TEST(Reading, AReadThatFailsNamesTheFile) {
  const std::string file = "/proc/self/mem";
  if (!std::ifstream(file)) GTEST_SKIP() << "no /proc";
  EXPECT_EQ(read_text(file).error().text, file + ": cannot be read");
  EXPECT_EQ(CsvTable::read(file).error().text, file + ": cannot be read");
}

}  // namespace
}  // namespace rubato::sim
