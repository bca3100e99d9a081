// SPDX-License-Identifier: GPL-2.0-or-later
// A rubato.conf in the simulator: which lines have an effect, and which.
#include <gtest/gtest.h>

#include "lib/sim/engine/config_lines.h"
#include "lib/sim/engine/suite.h"
#include "test/sim/played.h"

namespace rubato::sim {
namespace {

Config config_of(const std::string& text) { return parse_config(text, "test.conf").value(); }

TEST(ConfigLines, AreOfTheTypesOfTheCluster) {
  const ClusterShape cluster = parse_cluster_shape("a@ib:1x4,a@eth:1x4,b:1x4").value();
  const Config config = config_of("GpuType=a Speed=2\nGpuType=c Speed=3\n");
  ASSERT_NE(gpu_type_line(config, cluster.groups[0]), nullptr);
  EXPECT_EQ(gpu_type_line(config, cluster.groups[0])->speed, 2);
  EXPECT_EQ(gpu_type_line(config, cluster.groups[1]), gpu_type_line(config, cluster.groups[0]));
  EXPECT_EQ(gpu_type_line(config, cluster.groups[2]), nullptr);
  EXPECT_EQ(other_types(config, cluster), std::vector<std::string>{"c"});
}

/// The end of a single job without any measurements.
double end_with(const Config* config) {
  Suite suite;
  suite.name = "test";
  suite.cluster = parse_cluster_shape("slow:1x1,fast:1x1").value();
  suite.truth = std::make_shared<TwoSpeeds>();
  SimJob job;
  job.key = "one";
  job.model = "m";
  job.gpus = job.min_gpus = job.max_gpus = 1;
  job.work = 4000;
  suite.jobs.push_back(job);
  RunControl control;
  control.config = config;
  const auto record = run_suite(suite, "rubato-place", Information::kLearned, control);
  EXPECT_TRUE(record) << record.error().text;
  return record ? record->jobs[0].finish : 0;
}

TEST(ConfigLines, SayWhereAJobOfUnknownSpeedStarts) {
  const Config right = config_of("Mode=observe\nGpuType=fast Speed=4\nGpuType=slow Speed=1\n");
  const Config inverted = config_of("GpuType=fast Speed=1\nGpuType=slow Speed=4\n");
  EXPECT_EQ(end_with(&right), 1000);
  EXPECT_EQ(end_with(&inverted), 4000);
  const Config empty;
  EXPECT_EQ(end_with(nullptr), end_with(&empty));
}

TEST(ConfigLines, MessageIntervalIsThatOfReports) {
  EXPECT_EQ(report_interval(config_of("MessageInterval=5\n")), 5);
  EXPECT_EQ(report_interval(config_of("MessageInterval=0\n")), 60);
}

}  // namespace
}  // namespace rubato::sim
