// SPDX-License-Identifier: GPL-2.0-or-later
// The example policy that HACKING.md links: this program compiles and tests it.
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

TEST(OwnPolicy, IsTheOneThatHackingLinks) {
  const std::string hacking = text_of("HACKING.md");
  EXPECT_NE(hacking.find("](test/sim/policy_shortest.cc)"), std::string::npos);
  for (const char* line :
       {"std::unique_ptr<Policy> make_shortest(const PolicyContext& context);",
        R"({"shortest", "shortest remaining work first", "rates, work", &make_shortest},)"}) {
    EXPECT_NE(hacking.find(line), std::string::npos) << line;
  }
  EXPECT_NE(text_of("test/sim/policy_shortest.cc").find("make_shortest(const PolicyContext& "),
            std::string::npos);
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
