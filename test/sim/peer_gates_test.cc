// SPDX-License-Identifier: GPL-2.0-or-later
// The published figures of the peers' simulators, and the rules of each peer in the other's
// simulator.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "lib/sim/engine/suite.h"
#include "test/support/shared_data.h"

namespace rubato::sim {
namespace {

/// Checks that no GPU of a node is held twice at a time.
void expect_no_overlap(const Suite& suite, const RunMetrics& record) {
  std::map<std::pair<TypeIndex, GroupNodeIndex>, std::vector<std::pair<double, int>>> changes;
  for (const AllocationInterval& s : record.intervals) {
    changes[{s.type, s.node}].push_back({s.from, s.gpus});
    changes[{s.type, s.node}].push_back({s.to, -s.gpus});
  }
  EXPECT_FALSE(changes.empty());
  for (auto& [node, list] : changes) {
    std::ranges::sort(list);  // ends sort before starts of the same time
    int held = 0;
    for (const auto& [time, gpus] : list) {
      held += gpus;
      const int most = node.second.valid() ? suite.cluster.groups[node.first].gpus_per_node
                                           : suite.cluster.gpus(node.first);
      ASSERT_LE(held, most) << "at " << time;
    }
    EXPECT_EQ(held, 0);
  }
}

struct Gate {
  const char* suite;
  const char* policy;
};

/// Checks a suite by name; skips without data.
void expect_published(const Gate& gate, const char* part) {
  const auto data = test::shared_data(part);
  if (!data) GTEST_SKIP() << "no shared data";
  const auto suite = make_suite(gate.suite, *data, 0);
  ASSERT_TRUE(suite) << suite.error().text;
  RunControl control;
  control.intervals = true;
  const auto record = run_suite(*suite, gate.policy, Information::kKnown, control);
  ASSERT_TRUE(record) << record.error().text;
  const Metrics metrics = measure(*record, suite->window, suite->cluster.gpus(), suite->origin);
  EXPECT_EQ(metrics.finished, static_cast<int>(suite->jobs.size()));
  expect_no_overlap(*suite, *record);
  bool compared = false;
  for (const PublishedFigure& figure : suite->published) {
    if (figure.policy != gate.policy) continue;
    compared = true;
    const double got = figure.metric == "avg_jct_s" ? metrics.avg_jct_s : metrics.makespan_s;
    EXPECT_NEAR(got / figure.value, 1, figure.within) << figure.metric << " " << got;
  }
  EXPECT_TRUE(compared);
  // The same run stopped in the middle: jobs finished by then have the same results.
  RunControl until;
  until.until = record->end / 2;
  const auto half = run_suite(*suite, gate.policy, Information::kKnown, until);
  ASSERT_TRUE(half);
  EXPECT_TRUE(half->cut);
  for (std::size_t j = 0; j < half->jobs.size(); ++j) {
    if (!half->jobs[j].finished()) continue;
    EXPECT_EQ(half->jobs[j].finish, record->jobs[j].finish);
  }
}

TEST(PeerGates, Rubick) { expect_published({"rubick-a800-64", "rubick"}, "rubick"); }
TEST(PeerGates, RubickHonest) { expect_published({"rubick-a800-64", "rubick-honest"}, "rubick"); }
TEST(PeerGates, PolluxTiresias) { expect_published({"pollux-t4-64:w6", "tiresias"}, "pollux"); }
TEST(PeerGates, PolluxOptimus) { expect_published({"pollux-t4-64:w6", "optimus"}, "pollux"); }
TEST(PeerGates, MuriTiresias) { expect_published({"muri-v100-64:trace3", "tiresias"}, "muri"); }
TEST(PeerGates, SiaGavelPhilly1) {
  expect_published({"sia-het64:philly-1", "gavel-maxsum"}, "sia");
}
TEST(PeerGates, SiaGavelPhilly2) {
  expect_published({"sia-het64:philly-2", "gavel-maxsum"}, "sia");
}
TEST(PeerGates, SiaGavelSaturn1) {
  expect_published({"sia-het64:saturn-1", "gavel-maxsum"}, "sia");
}
TEST(PeerGates, SiaGavelSaturn2) {
  expect_published({"sia-het64:saturn-2", "gavel-maxsum"}, "sia");
}
TEST(PeerGates, SiaPhilly1) { expect_published({"sia-het64:philly-1", "sia"}, "sia"); }
TEST(PeerGates, SiaPhilly2) { expect_published({"sia-het64:philly-2", "sia"}, "sia"); }
TEST(PeerGates, SiaSaturn1) { expect_published({"sia-het64:saturn-1", "sia"}, "sia"); }
TEST(PeerGates, SiaSaturn2) { expect_published({"sia-het64:saturn-2", "sia"}, "sia"); }

TEST(PeerPolicies, TheSeedDrawsAmongSiasEqualChoices) {
  const auto data = test::shared_data("sia");
  if (!data) GTEST_SKIP() << "no shared data";
  auto suite = make_suite("sia-het64:philly-1", *data, 0);
  ASSERT_TRUE(suite) << suite.error().text;
  suite->jobs.resize(30);
  const auto last = [&](std::uint64_t seed) {
    RunControl control;
    control.seed = seed;
    const auto record = run_suite(*suite, "sia", Information::kKnown, control);
    EXPECT_TRUE(record) << record.error().text;
    double sum = 0;
    for (const JobResult& job : record->jobs) sum += job.jct();
    return sum;
  };
  EXPECT_EQ(last(1), last(1));
  EXPECT_NE(last(0), last(1));
  EXPECT_NEAR(last(1) / last(0), 1, .3);
}

// The rules of Sia and Pollux also run in each other's simulator.
TEST(PeerPolicies, RunWhereTheirRulesHold) {
  const auto data = test::shared_data("pollux");
  if (!data || !test::shared_data("sia")) GTEST_SKIP() << "no shared data";
  const auto plays = [&](const char* name, const char* policy) {
    auto suite = make_suite(name, *data, 0);
    EXPECT_TRUE(suite) << suite.error().text;
    suite->jobs.resize(12);
    RunControl control;
    control.intervals = true;
    auto record = run_suite(*suite, policy, Information::kKnown, control);
    if (!record) return record.error().text;
    expect_no_overlap(*suite, *record);
    for (const JobResult& job : record->jobs) EXPECT_TRUE(job.finished()) << name << policy;
    return std::string();
  };
  for (const char* suite : {"sia-het64:philly-1", "pollux-t4-64:w6"}) {
    EXPECT_EQ(plays(suite, "sia"), "");
    EXPECT_EQ(plays(suite, "pollux"), "");
  }
  EXPECT_EQ(plays("pollux-t4-64:w6", "optimus"), "");
  EXPECT_EQ(plays("sia-het64:philly-1", "optimus"),
            "needs a cluster with GPUs of one type, and this one has 3; it runs in the suites "
            "elastic, aiturbo-mix, pollux-t4-64, rubick-a800-64 and muri-v100-64");
  EXPECT_EQ(plays("pollux-t4-64:w6", "rubick"),
            "needs the execution plans of Rubick's models; it runs in the suite rubick-a800-64, "
            "and on workloads of format rubick");
}

}  // namespace
}  // namespace rubato::sim
