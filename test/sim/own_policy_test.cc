// SPDX-License-Identifier: GPL-2.0-or-later
// The policy that HACKING.md shows: it is the file that is compiled here, and it does what it says.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "lib/sim/engine/engine.h"
#include "lib/sim/engine/step_truth.h"
#include "lib/sim/engine/suite.h"

namespace rubato::sim {

std::unique_ptr<Policy> make_shortest(const PolicyContext& context);

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(RUBATO_SOURCE_DIR "/") + path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(OwnPolicy, IsTheOneInHacking) {
  std::istringstream lines(text_of("test/sim/policy_shortest.cc"));
  std::string block;
  for (std::string line; std::getline(lines, line);) {
    block += (line.empty() ? "" : "    " + line) + "\n";
  }
  EXPECT_NE(text_of("HACKING.md").find(block), std::string::npos)
      << "HACKING.md does not show test/sim/policy_shortest.cc as it is";
}

TEST(OwnPolicy, TheShortestGoesFirst) {
  Suite suite;
  suite.name = "own";
  suite.cluster = parse_cluster_shape("gpu:1x1").value();
  for (const double work : {100.0, 50.0, 10.0}) {
    SimJob job;
    job.key = std::to_string(work);
    job.arrival = suite.jobs.size();
    job.work = work;
    job.batch = 1;
    job.step = StepCosts{};
    job.step->sample_s = 1;
    suite.jobs.push_back(job);
  }
  suite.truth = std::make_shared<StepTruth>();
  const auto policy = make_shortest({suite.cluster, suite.jobs});
  const auto record = run_engine(suite, *policy, {});
  ASSERT_TRUE(record) << record.error().text;
  EXPECT_DOUBLE_EQ(record->jobs[0].finish, 100) << "what runs is left alone";
  EXPECT_DOUBLE_EQ(record->jobs[2].finish, 110);
  EXPECT_DOUBLE_EQ(record->jobs[1].finish, 160);
}

}  // namespace
}  // namespace rubato::sim
