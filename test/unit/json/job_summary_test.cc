// SPDX-License-Identifier: GPL-2.0-or-later
// The summary of an ended run in one line.
#include "lib/json/job_summary.h"

#include <gtest/gtest.h>

#include "lib/json/annotation.h"

namespace rubato {
namespace {

StartRecord ended() {
  StartRecord record;
  record.job = {7, 100};
  record.start = 600;
  record.end = 4200;
  record.samples = 5000;
  record.throughput = 95.25;
  record.summary = {.eligible = 200,
                    .gpu_type = "a100",
                    .gpus = 2,
                    .nodes = 1,
                    .gpu_seconds = 7200,
                    .restarts = 1,
                    .forecast = 120,
                    .better = {"h100", 2, 2.0, 1.9, 2.1}};
  return record;
}

TEST(JobSummary, HasAllFiguresInOneLine) {
  EXPECT_EQ(summary_line(ended()),
            "{rubato waited=400 ran=3600 gpus=2 gpu-type=a100 gpu-hours=2.00 restarts=1 "
            "samples=5000 rate=95.25 forecast=120 better=2:h100}");
}

TEST(JobSummary, LeavesOutWhatIsNotKnown) {
  StartRecord record = ended();
  record.samples = 0;
  record.throughput = 0;
  record.summary.forecast = 0;
  record.summary.restarts = 0;
  record.summary.better = {};
  record.summary.gpu_type = "a type}";
  EXPECT_EQ(summary_line(record), "{rubato waited=400 ran=3600 gpus=2 gpu-hours=2.00}");
  record.summary = {};
  EXPECT_EQ(summary_line(record), "");
}

TEST(JobSummary, StandsBesideTextOfOthers) {
  const std::string line = summary_line(ended());
  EXPECT_EQ(with_annotation_text("JS1:abc", line), "JS1:abc " + line);
  EXPECT_EQ(with_annotation_text("JS1:abc " + line, line), "JS1:abc " + line);
}

}  // namespace
}  // namespace rubato
